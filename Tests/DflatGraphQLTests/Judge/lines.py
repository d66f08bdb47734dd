#!/usr/bin/env python3
"""A GraphQL service behind a socket that is not one: a message of graphql-transport-ws per line.

The answers come from graphql-core. Anything that the protocol forbids ends the process with the
code that the protocol names.
"""

import asyncio
import json
import sys

import graphql

SCHEMA = graphql.build_schema("""
type Query { greeting(name: String!): String! }
type Subscription { count(to: Int!): Int!  forever: Int! }
""")


async def count(_, info, to):
    for number in range(1, to + 1):
        await asyncio.sleep(0)
        yield {"count": number}


async def forever(_, info):
    number = 0
    while True:
        number += 1
        yield {"forever": number}
        await asyncio.sleep(0.001)


SCHEMA.query_type.fields["greeting"].resolve = lambda _, info, name: f"Hello, {name}"
SCHEMA.subscription_type.fields["count"].subscribe = count
SCHEMA.subscription_type.fields["forever"].subscribe = forever


def send(**message):
    print(json.dumps(message), flush=True)


def close(code, reason):
    print(f"closed {code} {reason}", flush=True)
    sys.exit(0)


def result(value):
    return {key: part for key, part in (("data", value.data), ("errors", [
        error.formatted for error in value.errors or []])) if part or key == "data"}


async def answer(id, payload):
    document = graphql.parse(payload["query"])
    errors = graphql.validate(SCHEMA, document)
    if errors:
        return send(id=id, type="error", payload=[error.formatted for error in errors])
    arguments = {"variable_values": payload.get("variables"),
                 "operation_name": payload.get("operationName")}
    operation = graphql.get_operation_ast(document, payload.get("operationName"))
    if operation.operation is graphql.OperationType.SUBSCRIPTION:
        stream = await graphql.subscribe(SCHEMA, document, **arguments)
        if isinstance(stream, graphql.ExecutionResult):
            return send(id=id, type="error", payload=[error.formatted for error in stream.errors])
        async for value in stream:
            send(id=id, type="next", payload=result(value))
    else:
        value = graphql.execute_sync(SCHEMA, document, **arguments)
        send(id=id, type="next", payload=result(value))
    send(id=id, type="complete")


async def main():
    loop = asyncio.get_running_loop()
    tasks, opened = {}, False
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        message = json.loads(line)
        kind, id = message["type"], message.get("id")
        if kind == "connection_init":
            if opened:
                close(4429, "Too many initialisation requests")
            if message.get("payload", {}).get("token") != "open":
                close(4403, "Forbidden")
            opened = True
            send(type="connection_ack")
            send(type="ping", payload={"number": 7})
        elif kind == "pong":
            if message.get("payload") != {"number": 7}:
                close(4400, "a pong without the payload of its ping")
        elif kind == "subscribe":
            if not opened:
                close(4401, "Unauthorized")
            if id in tasks and not tasks[id].done():
                close(4409, f"Subscriber for {id} already exists")
            tasks[id] = asyncio.create_task(answer(id, message["payload"]))
        elif kind == "complete":
            if id not in tasks:
                close(4400, f"{id} was never subscribed")
            tasks[id].cancel()
            print(f"stopped {id}", file=sys.stderr, flush=True)
        else:
            close(4400, f"no message {kind}")

asyncio.run(main())
