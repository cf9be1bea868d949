import { counter, defineType, gauge, label, timestamp } from '@sonde/sdk'

/** What is written and read. */
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
