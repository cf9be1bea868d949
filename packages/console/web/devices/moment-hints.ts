import { byWeightIn, type Hint, type HintsAnswer, type HintsUnknown, type HintWindow } from '@sonde/sdk/api'
import type { DeviceInfo } from '../api/devices.ts'
import { formatSpanOfTime, type TimeZoneChoice, zoneName } from '../format/time.ts'

/** What rules saw, for the moment or window that a page shows. */
export interface MomentHints {
  /** The window that is over which they are of; left out where they are of now. */
  readonly window?: HintWindow
  /**
   * Hints that sentences, tiles and tables speak of: those that are open now, worst first, or all that held in the
   * window, worst first and then longest.
   */
  readonly hints: readonly Hint[]
  /** Hints that ended, in the last hour or in the window. */
  readonly ended: readonly Hint[]
  /** False before the server has said, and where part of the window is not known: then nothing is called in range. */
  readonly isKnown: boolean
  /** Parts of the window of which nothing is known. */
  readonly unknown: readonly HintsUnknown[]
}

const NOTHING: MomentHints = { hints: [], ended: [], isKnown: false, unknown: [] }

/**
 * What an answer says of the moment of a page. Of now, what is open counts; of a window that is over, all that held
 * in it: a mark that all is well must hold for all that is drawn beside it.
 */
export function momentHints(answer: HintsAnswer | undefined, isNow: boolean): MomentHints {
  if (answer === undefined) return NOTHING
  const { hints, ended, unknown, leftOut, fromMs, toMs, nowMs } = answer
  if (isNow) return { hints, ended, isKnown: true, unknown }
  const isKnown = unknown.length === 0 && leftOut === 0
  const window = { fromMs, toMs: Math.min(toMs, nowMs) }
  return { window, hints: [...hints, ...ended].sort(byWeightIn(window)), ended, isKnown, unknown }
}

/** Every hint that is known of, open or ended, each once. */
export function allHints({ hints, ended }: Pick<MomentHints, 'hints' | 'ended'>): readonly Hint[] {
  return [...new Set([...hints, ...ended])]
}

/** Parts of which nothing is known, as sentences. */
export function unknownWords(unknown: readonly HintsUnknown[], zone: TimeZoneChoice): string {
  return unknown
    .map(({ fromMs, toMs, reason }) => {
      return `What rules saw is not known from ${formatSpanOfTime(fromMs, toMs, zone)} ${zoneName(zone, toMs)}: ${reason}`
    })
    .join(' ')
}

/** Devices as they were at the end of a window: what left after it was there. */
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
