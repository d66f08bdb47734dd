print("dflatc")
