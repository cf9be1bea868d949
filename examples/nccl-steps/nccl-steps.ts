// Reports what a training says of itself to the agent of its node: the time of each step, or the bandwidths of
// nccl-tests. Then both lie beside retransmissions, ECN marks and PCIe of the same seconds, in charts and incidents.
//
//   python train.py | npx node --conditions=source examples/nccl-steps/nccl-steps.ts
//   all_reduce_perf -b 8M -e 8G -f 2 | npx node --conditions=source examples/nccl-steps/nccl-steps.ts
//
// A step is a line with `step` and `time`, such as `step 12 loss 2.31 time 0.812 s`. Each line is passed on to stdout.

import { createInterface } from 'node:readline'
import { createSchema, defineType, gauge, label, timestamp, wallNs } from '@sonde/sdk'

const job = process.env.JOB ?? 'training'
/** Where the sockets of the agent are, if not at the usual place. */
const [socketsDir] = process.argv.slice(2)

const schema = createSchema({ name: 'nccl-steps', ipc: socketsDir === undefined ? {} : { socketsDir } })
const step = schema.addType(
  defineType('training_step', 'One step of a training', {
    time: timestamp(),
    job: label('Name of the job'),
    duration_seconds: gauge('f64', { unit: 'seconds', help: 'How long the step took' }),
    number: gauge('u64', { help: 'Number of the step' }),
  }),
)
const bandwidth = schema.addType(
  defineType('nccl_test', 'One size of nccl-tests', {
    time: timestamp(),
    job: label('Name of the job'),
    size: label('Size of the message in bytes'),
    bus_bytes_per_second: gauge('f64', { unit: 'bytes_per_second', help: 'Bandwidth of the bus that NCCL reports' }),
  }),
)
await schema.start()
const source = schema.createSource({ tag: 'steps', flushIntervalMs: 100 })

const STEP = /\bstep\D{0,3}(\d+)\b.*?\btime\D{0,3}(\d+(?:\.\d+)?)\s*(ms|s)?/i
/** Size, count, type, operation, root, then time, algorithm bandwidth and bus bandwidth in GB/s. */
const TEST = /^\s*(\d+)\s+\d+\s+\w+\s+\w+\s+-?\d+\s+[\d.]+\s+[\d.]+\s+([\d.]+)/

for await (const line of createInterface({ input: process.stdin })) {
  console.log(line)
  const [, number, duration, unit] = STEP.exec(line) ?? []
  if (number !== undefined && duration !== undefined) {
    const duration_seconds = Number(duration) / (unit === 'ms' ? 1000 : 1)
    source.report(step, { time: wallNs(), job, duration_seconds, number: BigInt(number) })
  }
  const [, size, bus] = TEST.exec(line) ?? []
  if (size !== undefined && bus !== undefined)
    source.report(bandwidth, { time: wallNs(), job, size, bus_bytes_per_second: Number(bus) * 1e9 })
}

// A training does not fail because nobody watches it.
await source.flush().catch((error: unknown) => console.error(error instanceof Error ? error.message : String(error)))
await schema.close().catch(() => undefined)
