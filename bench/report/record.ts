import { defineType, label, type RecordOf, timestamp, value } from '@sonde/sdk'

/** A step of a training job: 72 bytes, with a text that repeats. */
export const stepType = defineType('bench_step', 'Load of the benchmark', {
  time: timestamp('us'),
  job: label(),
  rank: value('u32'),
  step: value('u64'),
  tokens: value('u64'),
  loss: value('f64'),
  gradient_norm: value('f64'),
  seconds: value('f64'),
  queue_depth: value('u32'),
  workers: value('u32'),
  retries: value('u32'),
  flags: value('u32'),
})

/** One record, as an object. */
export type Step = RecordOf<typeof stepType>

/** Different records that are reported in turn. */
export const DISTINCT = 256

/** Values that need their full width, and some that do not. */
export const steps: readonly Step[] = Array.from({ length: DISTINCT }, (_, i) => ({
  time: 1_800_000_000_000_000 + i * 137,
  job: `train-llm-${i >> 5}`,
  rank: i % 8,
  step: 1_000_000 + i,
  tokens: 2 ** 40 + i * 4096,
  loss: 2.5 + 1 / (i + 3),
  gradient_norm: 0.1 * (i + 1),
  seconds: 0.25 + i / 7,
  queue_depth: i * 3,
  workers: 16,
  retries: i >> 6,
  flags: 0x8000_0000 + i,
}))
