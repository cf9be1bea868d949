import type { Labels, RecordType } from '@sonde/sdk'
import { type RecordGroup, ringSignals } from './record-series.ts'
import type { SignalRule } from './rule.ts'
import type { Watch } from './watch.ts'

/** Rules on fields of a type, for a series with these labels. Rules on the same field form a group. */
export function recordGroups({ signals, rules }: Watch, type: RecordType, labels: Labels): RecordGroup[] {
  const slots = signals.map((signal) => {
    const isOther = Object.entries(signal.labels).some(([name, value]) => String(labels[name] ?? '') !== value)
    if (signal.type !== type.name || isOther) return undefined
    return type.layout.slots.find(({ name, field }) => name === signal.field && field.count === 1)
  })
  return [...Map.groupBy(rules, ({ signal }) => signal)].flatMap(([signal, own]): RecordGroup[] => {
    if (slots[signal] === undefined) return []
    const places = [signal]
    const placed = own.flatMap((rule): SignalRule[] => {
      const { test } = rule
      if (!('to' in test)) return [{ ...rule, signal: 0 }]
      if (slots[test.to] === undefined) return []
      if (!places.includes(test.to)) places.push(test.to)
      return [{ ...rule, signal: 0, test: { ...test, to: places.indexOf(test.to) } }]
    })
    const used = places.flatMap((index) => slots[index] ?? [])
    return placed.length === 0 ? [] : [{ slots: used, signals: ringSignals(used), rules: placed }]
  })
}
