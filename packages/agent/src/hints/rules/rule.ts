import type { Labels } from '@sonde/sdk'
import type { HintSeverity } from '@sonde/sdk/api'
import type { HintDevice } from '../device.ts'
import type { Look } from '../look/look.ts'
import type { Signal } from '../watch/signal.ts'
import type { Measure, Sentence } from './measure.ts'

/** A number that a rule compares with, and where it comes from. */
export interface Limit {
  readonly what: string
  readonly value: number
  /** Unit of `value`, as people read it: `/s`, `% of time`. */
  readonly unit: string
  /** Who uses it, or how it was found. */
  readonly source: string
}

/** What a rule saw. */
export interface Finding {
  /** The device at fault; default: the one that was looked at. */
  readonly device?: HintDevice
  /**
   * Labels that tell which of the device's series it is about, such as those of one of several packages. Default: all
   * of them.
   */
  readonly series?: Labels
  /** Default: that of the rule; otherwise its `worse`. */
  readonly severity?: HintSeverity
  readonly title: string
  /** What the verdict rests on. Without a measure that passed its limit there is no finding. */
  readonly measure: Measure
  readonly sentence: Sentence
  /** Devices that show the effect without being the origin. */
  readonly affected?: readonly HintDevice[]
  /** False while it shows but is not certain yet: the hint stays forming, however long it holds. Default: true. */
  readonly isSure?: boolean
  /** Default: that of the rule. Unit: milliseconds. */
  readonly neededMs?: number
}

/** A rule as every one of them is written: one file each, below `rules/`. */
export interface Rule {
  /** Name in ids, marks and metrics. */
  readonly name: string
  /** What it sees, a sentence for people. */
  readonly sees: string
  readonly severity: HintSeverity
  /** Severity of what is worse than usual, for rules that tell it apart. */
  readonly worse?: HintSeverity
  /** What it is asked about: each GPU, each NIC, each NIC or other interface, or the node once. */
  readonly of: 'gpu' | 'nic' | 'port' | 'node'
  /** How long it must hold before the hint stands. Unit: milliseconds. */
  readonly neededMs: number
  /** True of what is counted and not measured: one sample is enough then. */
  readonly isEvent?: boolean
  /** How long a hint stays open after its end, when the rule held last. Default: 5 seconds. Unit: milliseconds. */
  readonly lingerMs?: number
  /** Signals that it uses; what a device has not of them is told as lacking. */
  readonly uses: readonly Signal[]
  /** Those of them that show it, for evidence. */
  readonly shows: readonly Signal[]
  readonly limits: readonly Limit[]
  /** Look-alikes, in words, and when it is one of them: then it does not hold. */
  readonly not: Readonly<Record<string, (look: Look) => boolean>>
  /** Look-alikes that the limits alone tell apart. */
  readonly toldApart?: readonly string[]
  /**
   * Rules that explain what it sees where they hold on the same device (`device`), or anywhere on the node (`node`).
   */
  readonly explainedBy?: Readonly<Record<string, 'device' | 'node'>>
  /**
   * Trouble that comes and goes is one hint: an open hint goes on while this is so, and keeps what it said when the
   * rule held last.
   */
  readonly goesOn?: { readonly while: string; readonly holds: (look: Look) => boolean }
  /**
   * Whether it still explains what others see, of the device that it is open on. Default: as long as it is open. A hint
   * may be shown for longer than its effect lasts.
   */
  readonly stillExplains?: (look: Look) => boolean
  /**
   * How far back it counts events: what explains them still does for so long after it ended. Default: 0. Unit:
   * milliseconds.
   */
  readonly looksBackMs?: number
  /** What it would want to know and no signal tells. */
  readonly lacksAlways?: readonly string[]
  /** What it sees of a device now; undefined if it does not hold. Look-alikes are ruled out after it. */
  find(look: Look): Finding | undefined
}
