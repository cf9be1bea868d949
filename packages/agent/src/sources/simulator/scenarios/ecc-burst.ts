import type { EffectEvent, EffectSpan, GpuEffect } from '../effects.ts'
import { onDevice, partOf, type Scenario, type Strike } from './scenario.ts'

/**
 * From this rate on, the error is not contained: all processes end, not only that of the GPU. Unit: corrected errors
 * per minute.
 */
const UNCONTAINED_FROM = 300
/** From this rate on, no spare row is left, and the board must be replaced. Unit: corrected errors per minute. */
const UNREPAIRED_FROM = 500
/** Share of the scenario with corrected errors only; it stands for hours. */
const WATCH_SHARE = 0.25
const WATCH_S = 60
/** Recovery action of the driver after a contained error: a reset. */
const RESET = 1

/** 4.9: failing memory. */
export const eccBurst: Scenario = {
  name: 'ecc-burst',
  summary: 'Memory of one GPU goes bad: corrected errors first, then one that cannot be, and the job dies',
  target: 'gpu',
  usualIndex: 2,
  severity: { unit: 'corrected errors a minute', min: 1, max: 600, default: 40 },
  durationS: 240,
  effects: (strike) => ({ spans: spansOf(strike), events: eventsOf(strike) }),
}

function failureS(strike: Strike): number {
  return partOf(strike, WATCH_SHARE, WATCH_S)
}

function spansOf(strike: Strike): EffectSpan[] {
  const { onsetS, endS, severity } = strike
  const atS = failureS(strike)
  const goneS = atS + 1.5
  const isContained = severity < UNCONTAINED_FROM
  const repair: GpuEffect = severity < UNREPAIRED_FROM ? { rowRemapPending: true } : { rowRemapFailure: true }
  return [
    onDevice(strike, onsetS, atS, { correctedErrorsPerMinute: severity }),
    onDevice(strike, atS, endS, { ...repair, recoveryAction: RESET }),
    // The process of this GPU ends. The others wait for it until their time-out, or end too.
    onDevice(strike, goneS, endS, { state: 'idle' }),
    { fromS: atS, toS: goneS, job: { state: 'stuck' } },
    { fromS: goneS, toS: endS, job: { state: isContained ? 'stuck' : 'idle' } },
  ]
}

function eventsOf(strike: Strike): EffectEvent[] {
  const { onsetS, severity, device } = strike
  const gpu = device.index
  const atS = failureS(strike)
  const xid = (afterS: number, number: number): EffectEvent => ({ atS: atS + afterS, gpu, kind: 'xid', xid: number })
  const isRepaired = severity < UNREPAIRED_FROM
  const halfway = (onsetS + atS) / 2
  return [
    { atS: halfway, gpu, kind: 'row_remap_corrected' },
    { atS: halfway, gpu, kind: 'xid', xid: 63 },
    { atS, gpu, kind: 'ecc_uncorrected' },
    ...(isRepaired ? [{ atS, gpu, kind: 'row_remap_uncorrected' } as const] : []),
    xid(0, 48),
    xid(0.001, isRepaired ? 63 : 64),
    xid(0.01, severity < UNCONTAINED_FROM ? 94 : 95),
    xid(0.02, 154),
    xid(1.5, 45),
  ]
}
