#!/usr/bin/env bash
# What dflatc writes is what the article shows.
diff model.txt generated/note_data_model_generated.swift
diff names.txt generated/note_query_generated.swift
