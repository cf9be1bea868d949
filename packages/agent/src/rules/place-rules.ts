import type { RecordType } from '@sonde/sdk'
import { deviceLabelOf } from '@sonde/sdk/internal'
import type { SignalRule } from './rule.ts'
import type { WalkSignal } from './walk/ring-memory.ts'
import type { Watch, WatchedSignal } from './watch.ts'

/** Rules on fields of one type, with their signals by index. */
export interface PlacedRules {
  readonly rules: readonly SignalRule[]
  readonly signals: readonly WalkSignal[]
}

/** The rules of a watch that samples of this type and device can evaluate. */
export function placeRules({ rules, signals }: Watch, type: RecordType, device: string): PlacedRules {
  const placed: WalkSignal[] = []
  const indexes = signals.map((signal) => {
    const place = walkedSignal(signal, type, device)
    return place === undefined ? undefined : placed.push(place) - 1
  })
  const own = rules.flatMap((rule): SignalRule[] => {
    const signal = indexes[rule.signal]
    if (signal === undefined) return []
    const { test } = rule
    if (!('to' in test)) return [{ ...rule, signal }]
    const to = indexes[test.to]
    return to === undefined ? [] : [{ ...rule, signal, test: { ...test, to } }]
  })
  return { rules: own, signals: placed }
}

/** Samples have only the label of their device. */
function walkedSignal(signal: WatchedSignal, type: RecordType, device: string): WalkSignal | undefined {
  if (signal.type !== type.name) return undefined
  const own = deviceLabelOf(type)
  const isOther = Object.entries(signal.labels).some(([name, value]) => name !== own || value !== device)
  const slot = type.layout.slots.find(({ name }) => name === signal.field)
  if (isOther || slot === undefined) return undefined
  const { kind, count } = slot.field
  const isWalked = (kind === 'u64' || kind === 'f64') && count === 1 && (slot.offset & 3) === 0
  return isWalked ? { at: slot.offset >>> 2, kind, isCounter: signal.isCounter } : undefined
}
