import { type DisplayUnit, formatIn } from '../format/number.ts'
import { type DeviceReading, rangeWords } from './device-reading.ts'

/** A number in a table cell. For a past window its extremes are below it. */
export function ReadingWords({ unit, reading }: { readonly unit: DisplayUnit; readonly reading: DeviceReading }) {
  const range = rangeWords(unit, reading)
  return (
    <>
      {formatIn(unit, reading.value)}
      {range && <span className="cell-range">{range}</span>}
    </>
  )
}

/** What the largest unit of a column is chosen from. */
export function largestOfReading({ value, high }: DeviceReading): number {
  return Number.isNaN(high) ? value || 0 : high
}
