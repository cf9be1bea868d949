import type { EffectSpan } from '../effects.ts'
import { STEP_S } from '../model/phases.ts'
import { COPY_BYTES_PER_S, COPY_S, PERIOD_S, SAVED_BYTES } from './checkpoint.ts'
import { repeats, type Scenario } from './scenario.ts'

/** Traffic to storage meanwhile. The save takes minutes, so storage never delays the job. */
const STORAGE_BYTES_PER_S = 2e9

/** 4.17, second form: the job saves its state and continues. */
export const checkpointAsynchronous: Scenario = {
  name: 'checkpoint-asynchronous',
  summary:
    'The job saves its state beside its work: one step is longer, then storage is busy for minutes; no fault at all',
  target: 'node',
  usualIndex: 0,
  severity: { unit: 'share by which one step is longer', min: 0.05, max: 0.5, default: 0.2 },
  durationS: 180,
  effects: ({ node, onsetS, endS, severity }) => {
    const writtenS = (node.gpus.length * SAVED_BYTES) / STORAGE_BYTES_PER_S
    return { spans: repeats(onsetS, endS, PERIOD_S).flatMap((fromS) => save(fromS, severity, writtenS)) }
  },
}

function save(fromS: number, severity: number, writtenS: number): EffectSpan[] {
  return [
    { fromS, toS: fromS + COPY_S, job: { deviceToHostBytesPerS: COPY_BYTES_PER_S } },
    { fromS, toS: fromS + STEP_S * (1 + severity), job: { exposedS: STEP_S * severity } },
    { fromS: fromS + COPY_S, toS: fromS + writtenS, job: { storageBytesPerS: STORAGE_BYTES_PER_S } },
  ]
}
