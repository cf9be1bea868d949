import { counter, defineType, gauge, label, type RecordOf, timestamp } from '@sonde/sdk'

/** The type of all records. */
export const jobType = defineType('bench_job', 'A record of 72 bytes', {
  time: timestamp(),
  queue: label(),
  worker: label(),
  jobs_total: counter('u64'),
  bytes_total: counter('u64', { unit: 'bytes' }),
  wait_seconds: gauge('f64', { unit: 'seconds' }),
  run_seconds: gauge('f64', { unit: 'seconds' }),
  memory_bytes: gauge('u64', { unit: 'bytes' }),
  retries_total: counter('u64'),
  depth: gauge('u64'),
})

/** The record number `i` of a run that began at a time. */
export function jobRecord(startNs: bigint, i: number): RecordOf<typeof jobType> {
  return {
    time: startNs + BigInt(i),
    queue: `queue${i % 8}`,
    worker: `worker${i % 64}`,
    jobs_total: i,
    bytes_total: i * 1000,
    wait_seconds: i / 7,
    run_seconds: i / 3,
    memory_bytes: i * 4096,
    retries_total: i % 5,
    depth: i % 100,
  }
}
