import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Sparkline } from './sparkline.tsx'
import { StateMark, type StateTone } from './state-mark.tsx'

/** One of the facts in the last line of a tile. */
export interface TileFact {
  readonly text: string
  readonly isTrouble?: boolean
  /** The full text of an abbreviation. */
  readonly title?: string
}

/** Everything that a tile shows of a device. */
export interface TileWords {
  readonly name: string
  readonly tone: StateTone
  readonly word: string
  readonly value: string
  readonly unit: string
  /** What the value is; left out where a list has it in its head. */
  readonly what?: string
  readonly facts: readonly TileFact[]
  readonly spark?: TileSpark
}

/** What a tile draws; all of `values` unless it says from where. */
export interface TileSpark {
  readonly values: Float64Array
  /** Raw value of the top edge. */
  readonly top: number
  /** Whether it is the signal that fired. */
  readonly isLit: boolean
  readonly from?: number
}

/** A device that nothing is known of yet: its place, its name, and room for the rest. */
export function awaitedTile(name: string): TileWords {
  return { name, tone: 'ok', word: '', value: '\u00a0', unit: '', facts: [{ text: '\u00a0' }] }
}

/** A device in a few words: one link with name, state, the telling value, its last minutes and two facts. */
export function Tile({
  words,
  href,
  mark,
}: {
  readonly words: TileWords
  readonly href: string
  /** A mark with its own link, in the place of the second fact. */
  readonly mark?: ReactNode
}) {
  return (
    <div className={mark ? 'tile-box has-mark' : 'tile-box'}>
      <TileLink words={words} href={href} factCount={mark ? 1 : 2} />
      {mark}
    </div>
  )
}

function TileLink({
  words,
  href,
  factCount,
}: {
  readonly words: TileWords
  readonly href: string
  readonly factCount: number
}) {
  const { name, tone, word, value, unit, what, facts, spark } = words
  // Where the word stands among the facts it is not said twice.
  const isSaid = facts.some(({ text }) => text === word)
  return (
    <Link className={`tile is-${tone}`} href={href}>
      <span className="tile-head">
        <span className="tile-name" title={name}>
          {name}
        </span>
        {word !== '' && <StateMark tone={tone} word={isSaid ? '' : word} iconOnly />}
      </span>
      <span className="tile-value">
        <span className="num">{value}</span>
        {unit && <span className="unit"> {unit}</span>}
        {what && <span className="unit tile-what"> {what}</span>}
      </span>
      {spark ? (
        <Sparkline
          values={spark.values}
          top={spark.top}
          from={spark.from ?? 0}
          to={spark.values.length - 1}
          tone={spark.isLit ? 'lit' : 'herd'}
        />
      ) : (
        <span className="sparkline" />
      )}
      <span className="tile-facts">
        {facts.slice(0, factCount).map(({ text, isTrouble, title }) => (
          <span key={text} className={isTrouble ? 'tile-trouble num' : 'num'} title={title}>
            {text}
          </span>
        ))}
      </span>
    </Link>
  )
}
