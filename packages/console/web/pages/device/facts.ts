import type { Hint, Labels, Matcher } from '@sonde/sdk/api'
import type { Fact } from '../../components/facts.tsx'
import { hintState, tileWordsOf } from '../../devices/hint-words.ts'
import { type Reading, rangeWords, readingOfNow } from '../../devices/reading.ts'
import { ABSENT, formatIn, groupThousands, NO_BREAK_SPACE, pickUnit } from '../../format/number.ts'
import { bounded, type Quantity } from '../../format/quantity.ts'

/** A fact while samples are awaited: as it is where it needs none, else its label, and room for the rest. */
export function awaitedFact(fact: Fact): Fact {
  return fact.isFixed === true ? fact : { label: fact.label, value: NO_BREAK_SPACE, caption: NO_BREAK_SPACE }
}

/** A fact of one number; `–` if it is absent. Of a window that is over its extremes are the caption. */
export function numberFact(label: string, quantity: Quantity, reading: Reading | number, caption = ''): Fact {
  const { value, low, high } = typeof reading === 'number' ? readingOfNow(reading) : reading
  if (Number.isNaN(value)) return { label, value: ABSENT, caption: 'not told' }
  const unit = pickUnit(quantity, value)
  const [told, least, most] = [value, low, high].map((raw) => bounded(quantity, raw)) as [number, number, number]
  const range = rangeWords(unit, { value: told, low: least, high: most })
  return { label, value: formatIn(unit, told), unit: unit.label, caption: range || caption }
}

/** A fact of a total. */
export function countFact(label: string, value: string | undefined, caption: string): Fact {
  if (value === undefined) return { label, value: ABSENT, caption: 'not told' }
  return { label, value: groupThousands(value), caption }
}

/** Series of a metric that have some labels: those of a hint that is about others say nothing of it. */
export interface JudgedSeries {
  readonly metric: string
  readonly labels: Labels
}

/** Gives a fact the state that rules see in some metrics, or in some series of them; without one it is a number. */
export type Judge = (fact: Fact, ...about: readonly (string | JudgedSeries)[]) => Fact

/**
 * Judges by the worst hint of a device whose evidence has one of the metrics: the same colour and words as in the
 * headline.
 */
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

/** What is not said of a series may be what is asked for. */
function isMet({ op, value }: Matcher, text: string | undefined): boolean {
  if (text === undefined) return true
  const fits = op === '=' || op === '!=' ? text === value : new RegExp(`^(?:${value})$`).test(text)
  return fits === (op === '=' || op === '=~')
}
