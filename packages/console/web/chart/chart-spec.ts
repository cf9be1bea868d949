import type { Bin } from '@sonde/sdk/api'
import type { SeriesSlot } from '../components/palette.ts'
import type { DisplayQuantity } from '../format/quantity.ts'

/** One member of a chart. `values` lie on the grid of the page; a gap is NaN. */
export interface ChartMember {
  readonly key: string
  readonly label: string
  readonly values: Float64Array
  readonly resetsMs?: readonly number[]
  /** The bin that it counts, in a heat strip. */
  readonly bin?: Bin
  /** What fills its lane, where lanes have scales of their own. Unit: that of the values. */
  readonly full?: number
}

/** Something that began at a time, and ended or holds still. */
export interface ChartMark {
  readonly fromMs: number
  /** Absent while it holds. */
  readonly toMs?: number
  readonly label: string
  /** Where its flag leads. */
  readonly href?: string
}

/** What a chart shows. Panels are data: every page describes its charts so. */
export interface ChartSpec {
  readonly id: string
  readonly title: string
  readonly quantity: DisplayQuantity
  /** Stands after the unit in the title: `a kernel was running`. */
  readonly caption?: string
  readonly members: readonly ChartMember[]
  /** Names of one and of many members: `NIC`, `NICs`. */
  readonly noun: readonly [one: string, many: string]
  /** Colours in the order in which members take them; the first is the family's. Default: s1 to s8. */
  readonly slots?: readonly SeriesSlot[]
  readonly limits?: readonly { readonly value: number; readonly label: string }[]
  /**
   * `percent`: fixed from 0 to 100 %. `zero`: starts at 0. `free`: may start above 0. `log`: all decades have equal
   * height. `lanes`: each member has its own strip, all with one scale. `heat`: the bins of one histogram above one
   * another, the lowest first, with a colour for the content of each. Default: `zero`.
   */
  readonly scale?: 'percent' | 'zero' | 'free' | 'log' | 'lanes' | 'heat'
  /** How the edges of the bins are written, where the scale is `heat`. */
  readonly edges?: DisplayQuantity
  /** Whether the members are of one kind, so that four or more members form a herd. Default: true. */
  readonly isAlike?: boolean
  /** Whether any member is simulated: what leaves the page says so. Default: false. */
  readonly isSimulated?: boolean
  /** Whether the answer to its question is still on the way, so that nothing is said about gaps. */
  readonly isAwaited?: boolean
  /** Flags on the time axis, the span between begin and end tinted. */
  readonly marks?: readonly ChartMark[]
  /** How the values came to be, for the foot of the pinned card: `rate of 1 s · kernel clock`. */
  readonly provenance?: string
}

/** The part of the grid that is shown. */
export interface ChartView {
  readonly times: Float64Array
  readonly firstIndex: number
  readonly stepMs: number
  readonly fromMs: number
  readonly toMs: number
  readonly isLive: boolean
  /** Whether it grows: it begins with the first sample that is kept. Default: false. */
  readonly isGrowing?: boolean
  /** Whether the samples of this window have arrived; before, no gap is shown. */
  readonly isKnown: boolean
  readonly zone: 'utc' | 'local'
  /** `lines` draws every member; otherwise four and more like members are a herd. */
  readonly mode: 'herd' | 'lines'
  /** Members that are lit by hand. */
  readonly pinned: ReadonlySet<string>
  /** Least room at the right end, so that charts below one another line up. Unit: CSS pixels. Default: 0. */
  readonly endPx?: number
}
