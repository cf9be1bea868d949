import type { EffectSpan } from '../effects.ts'
import { repeats, type Scenario } from './scenario.ts'

/** Shortest time between two checkpoints. Unit: seconds. */
export const PERIOD_S = 600
/** Bytes that each GPU saves. */
export const SAVED_BYTES = 30e9
/** Speed of the copy to the host, the first part of a checkpoint. Unit: bytes per second. */
export const COPY_BYTES_PER_S = 12e9
/** Duration of the copy. Unit: seconds. */
export const COPY_S = SAVED_BYTES / COPY_BYTES_PER_S
/** Traffic to storage during and after the copy. */
const STORAGE_BYTES_PER_S = 9e9
/** Time after a checkpoint in which the job is slow. Unit: seconds. */
const SLOW_STEP_S = 4
const SLOWER_BY_S = 1.2

/** 4.17: the job saves its state. */
export const checkpoint: Scenario = {
  name: 'checkpoint',
  summary: 'The job saves its state: GPUs stand still, copy to the host, and storage is busy; no fault at all',
  target: 'node',
  usualIndex: 0,
  severity: { unit: 'seconds', min: 5, max: 120, default: 20 },
  durationS: 60,
  effects: ({ onsetS, endS, severity }) => ({
    spans: repeats(onsetS, endS, Math.max(PERIOD_S, severity * 2)).flatMap((fromS) => save(fromS, severity)),
  }),
}

function save(fromS: number, durationS: number): EffectSpan[] {
  const toS = fromS + durationS
  const copiedS = Math.min(toS, fromS + COPY_S)
  const storageBytesPerS = STORAGE_BYTES_PER_S
  return [
    { fromS, toS: copiedS, job: { state: 'checkpoint', deviceToHostBytesPerS: COPY_BYTES_PER_S, storageBytesPerS } },
    { fromS: copiedS, toS, job: { state: 'checkpoint', storageBytesPerS } },
    { fromS: toS, toS: toS + SLOW_STEP_S, job: { exposedS: SLOWER_BY_S } },
  ]
}
