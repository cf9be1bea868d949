import { byWeightIn, type Hint, type HintsAnswer, type HintsUnknown, type HintWindow } from '@sonde/sdk/api'
import type { DeviceInfo } from '../api/devices.ts'
import { formatSpanOfTime, type TimeZoneChoice, zoneName } from '../format/time.ts'

/** The hints for the moment or window of a page. */
export interface MomentHints {
  /** The past window of the hints; absent for the present. */
  readonly window?: HintWindow
  /**
   * Hints for sentences, tiles and tables: the open hints, worst first, or all hints of a past window, worst first and
   * then longest.
   */
  readonly hints: readonly Hint[]
  /** Hints that ended in the last hour or in the window. */
  readonly ended: readonly Hint[]
  /** False before the first answer, and if part of the window is unknown. Nothing is then called in range. */
  readonly isKnown: boolean
  /** Unknown parts of the window. */
  readonly unknown: readonly HintsUnknown[]
}

const NOTHING: MomentHints = { hints: [], ended: [], isKnown: false, unknown: [] }

/**
 * The hints of an answer for the moment of a page: the open hints now, or all hints of a past window. A mark that all
 * is well must cover everything drawn beside it.
 */
export function momentHints(answer: HintsAnswer | undefined, isNow: boolean): MomentHints {
  if (answer === undefined) return NOTHING
  const { hints, ended, unknown, fromMs, toMs, nowMs } = answer
  if (isNow) return { hints, ended, isKnown: true, unknown }
  const isKnown = unknown.length === 0
  const window = { fromMs, toMs: Math.min(toMs, nowMs) }
  return { window, hints: [...hints, ...ended].sort(byWeightIn(window)), ended, isKnown, unknown }
}

/** Every known hint, open or ended, without duplicates. */
export function allHints({ hints, ended }: Pick<MomentHints, 'hints' | 'ended'>): readonly Hint[] {
  return [...new Set([...hints, ...ended])]
}

/** Sentences on the unknown parts. */
export function unknownWords(unknown: readonly HintsUnknown[], zone: TimeZoneChoice): string {
  return unknown
    .map(({ fromMs, toMs, reason }) => {
      return `What rules saw is not known from ${formatSpanOfTime(fromMs, toMs, zone)} ${zoneName(zone, toMs)}: ${reason}`
    })
    .join(' ')
}

/** Devices as they were at the end of a window. Devices that left later are present. */
export function devicesAt(devices: readonly DeviceInfo[], toMs: number | undefined): readonly DeviceInfo[] {
  if (toMs === undefined || !devices.some((device) => isGoneAfter(device, toMs))) return devices
  return devices.map((device) => deviceAt(device, toMs))
}

/** A device as it was at the end of a window. */
export function deviceAt(device: DeviceInfo, toMs: number | undefined): DeviceInfo {
  if (toMs === undefined || !isGoneAfter(device, toMs)) return device
  const { goneMs: _goneMs, goneReason: _goneReason, ...rest } = device
  return { ...rest, state: 'present' }
}

function isGoneAfter({ state, goneMs = Number.POSITIVE_INFINITY }: DeviceInfo, toMs: number): boolean {
  return state === 'gone' && goneMs !== Number.POSITIVE_INFINITY && goneMs > toMs
}
