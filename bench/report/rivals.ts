import assert from 'node:assert/strict'
import { deserialize, serialize } from 'node:v8'
import { Packr } from 'msgpackr'
import protobuf from 'protobufjs'
import { DISTINCT, type Step, steps } from './record.ts'
import type { Contender } from './sonde.ts'

const TIMES = 102_400
const PAGE_BYTES = 60_000
const PAGE_ROOM_BYTES = 4096

/** What else makes bytes of records, from the same objects. */
export function rivalContenders(): readonly Contender[] {
  return [jsonStringify(), v8Serialize(), msgpackr(), protobufjs()]
}

/** Lines of JSON: text that is joined, and made bytes a page at a time. */
function jsonStringify(): Contender {
  const page = Buffer.allocUnsafeSlow(PAGE_BYTES + PAGE_ROOM_BYTES)
  return {
    name: 'JSON.stringify',
    times: TIMES,
    run(sink, times) {
      let lines = ''
      let count = 0
      for (let i = 0; i < times; i++) {
        lines += `${JSON.stringify(steps[i % DISTINCT])}\n`
        count++
        if (lines.length < PAGE_BYTES && i < times - 1) continue
        sink.take(page.subarray(0, page.write(lines)), count)
        lines = ''
        count = 0
      }
    },
    check: ({ last }) => {
      const [line = ''] = Buffer.from(last).toString().split('\n')
      assert.ok(steps.some((step) => JSON.stringify(step) === line))
    },
  }
}

/** Bytes of one record each, put side by side in a page. */
function pageByPage(
  name: string,
  encode: (step: Step) => Uint8Array,
  decode: (bytes: Uint8Array) => unknown,
): Contender {
  const page = new Uint8Array(PAGE_BYTES + PAGE_ROOM_BYTES)
  return {
    name,
    times: TIMES,
    run(sink, times) {
      let at = 0
      let count = 0
      for (let i = 0; i < times; i++) {
        const bytes = encode(steps[i % DISTINCT] as Step)
        page.set(bytes, at)
        at += bytes.byteLength
        count++
        if (at < PAGE_BYTES && i < times - 1) continue
        sink.take(page.subarray(0, at), count)
        at = 0
        count = 0
      }
    },
    check: () => {
      const [step] = steps
      assert.deepEqual({ ...(decode(encode(step as Step).slice()) as object) }, step)
    },
  }
}

function v8Serialize(): Contender {
  return pageByPage('v8.serialize', serialize, deserialize)
}

/** With its extension for records, which is its fastest. */
function msgpackr(): Contender {
  const packr = new Packr({ structures: [] })
  return pageByPage(
    'msgpackr',
    (step) => packr.pack(step),
    (bytes) => packr.unpack(bytes),
  )
}

const PROTO = `syntax = "proto3"; message Step {
uint64 time = 1; string job = 2; uint32 rank = 3; uint64 step = 4; uint64 tokens = 5; double loss = 6; double gradient_norm = 7; double seconds = 8;
uint32 queue_depth = 9; uint32 workers = 10; uint32 retries = 11; uint32 flags = 12; }`

/** Many messages a writer, as it is fastest. */
function protobufjs(): Contender {
  const type = protobuf.parse(PROTO).root.lookupType('Step')
  return {
    name: 'protobufjs',
    times: TIMES,
    run(sink, times) {
      for (let i = 0; i < times; i += DISTINCT) {
        const writer = protobuf.Writer.create()
        for (const step of steps) type.encodeDelimited(step, writer)
        sink.take(writer.finish(), DISTINCT)
      }
    },
    check: ({ last }) => assert.ok(Buffer.from(last).includes('train-llm-7')),
  }
}
