import type { Hint, Labels, Matcher } from '@sonde/sdk/api'
import type { Fact } from '../../components/facts.tsx'
import { type DeviceReading, rangeWords, readingOfNow } from '../../devices/device-reading.ts'
import { hintState, tileWordsOf } from '../../devices/hint-words.ts'
import { ABSENT, formatIn, groupThousands, NO_BREAK_SPACE, pickUnit } from '../../format/number.ts'
import { bounded, type DisplayQuantity } from '../../format/quantity.ts'

/** A fact before samples arrive: unchanged if it needs none, else the label with space for the value. */
export function awaitedFact(fact: Fact): Fact {
  return fact.isFixed === true ? fact : { label: fact.label, value: NO_BREAK_SPACE, caption: NO_BREAK_SPACE }
}

/** A fact with a number; `–` if absent. For a past window the caption gives the extremes. */
export function numberFact(
  label: string,
  quantity: DisplayQuantity,
  reading: DeviceReading | number,
  caption = '',
): Fact {
  const { value, low, high } = typeof reading === 'number' ? readingOfNow(reading) : reading
  if (Number.isNaN(value)) return { label, value: ABSENT, caption: 'not told' }
  const unit = pickUnit(quantity, value)
  const [told, least, most] = [value, low, high].map((raw) => bounded(quantity, raw)) as [number, number, number]
  const range = rangeWords(unit, { value: told, low: least, high: most })
  return { label, value: formatIn(unit, told), unit: unit.label, caption: range || caption }
}

/** A fact with a total. */
export function countFact(label: string, value: string | undefined, caption: string): Fact {
  if (value === undefined) return { label, value: ABSENT, caption: 'not told' }
  return { label, value: groupThousands(value), caption }
}

/** The series of a metric with the given labels. Hints about other series do not count. */
export interface JudgedSeries {
  readonly metric: string
  readonly labels: Labels
}

/** Gives a fact the state that rules report for metrics or series. Without a report the fact stays a plain number. */
export type Judge = (fact: Fact, ...about: readonly (string | JudgedSeries)[]) => Fact

/** Judges by the worst hint with one of the metrics in its evidence, with the colour and words of the headline. */
export function judgeBy(hints: readonly Hint[], title: string): Judge {
  return (fact, ...about) => {
    const shows = (query: HintEvidence) => about.some((one) => isShownBy(query, one))
    const hint = hints.find(({ evidence }) => evidence.some(shows))
    return hint ? { ...fact, tone: hintState(hint).tone, caption: tileWordsOf(hint, title) } : fact
  }
}

type HintEvidence = Hint['evidence'][number]

function isShownBy({ metric, matchers }: HintEvidence, about: string | JudgedSeries): boolean {
  if (typeof about === 'string') return metric === about
  return metric === about.metric && matchers.every((matcher) => isMet(matcher, about.labels[matcher.label]))
}

/** A label missing from the evidence may have any value. */
function isMet({ op, value }: Matcher, text: string | undefined): boolean {
  if (text === undefined) return true
  const fits = op === '=' || op === '!=' ? text === value : new RegExp(`^(?:${value})$`).test(text)
  return fits === (op === '=' || op === '=~')
}
