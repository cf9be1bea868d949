import type { Labels } from '@sonde/sdk'
import type { HintSeverity } from '@sonde/sdk/api'
import type { HintDevice } from '../device.ts'
import type { Inspection } from '../inspection/inspection.ts'
import type { HintSignal } from '../watch/signal.ts'
import type { Measure, Sentence } from './measure.ts'

/** A limit of a rule, and its source. */
export interface HintLimit {
  readonly what: string
  readonly value: number
  /** Unit of `value` in words: `/s`, `% of time`. */
  readonly unit: string
  /** The publication or measurement behind it. */
  readonly source: string
}

/** The result of a rule that holds. */
export interface RuleFinding {
  /** The faulty device. Default: the evaluated device. */
  readonly device?: HintDevice
  /** Labels that select the series in question, such as one of several packages. Default: all series of the device. */
  readonly series?: Labels
  /** Default: the rule's severity. Otherwise its `worse` severity. */
  readonly severity?: HintSeverity
  readonly title: string
  /** The evidence. A finding without a measure beyond its limit does not count. */
  readonly measure: Measure
  readonly sentence: Sentence
  /** Devices that show the effect but are not the cause. */
  readonly affected?: readonly HintDevice[]
  /** False while the finding is uncertain: the hint then stays in the stage `forming`. Default: true. */
  readonly isSure?: boolean
  /** Default: the rule's time. Unit: milliseconds. */
  readonly neededMs?: number
}

/** A rule of hints. Each rule has a file in `rules/`. */
export interface HintRule {
  /** Name in ids, marks and metrics. */
  readonly name: string
  /** One sentence about the fault that it detects. */
  readonly sees: string
  readonly severity: HintSeverity
  /** Severity of the worse form of the fault, if the rule has one. */
  readonly worse?: HintSeverity
  /** The subjects that it evaluates: each GPU, each NIC, each NIC or other interface, or the node once. */
  readonly of: 'gpu' | 'nic' | 'port' | 'node'
  /** How long it must hold before the hint is confirmed. Unit: milliseconds. */
  readonly neededMs: number
  /** Whether it counts events. Then one sample is enough. Default: false. */
  readonly isEvent?: boolean
  /** How long a hint stays open after the rule last held. Default: 5 seconds. Unit: milliseconds. */
  readonly lingerMs?: number
  /** Signals that it uses. Hints list those that a device does not have. */
  readonly uses: readonly HintSignal[]
  /** The signals that show the fault, for evidence. */
  readonly shows: readonly HintSignal[]
  readonly limits: readonly HintLimit[]
  /** Look-alikes in words, with a condition for each. If the condition is true, the rule does not hold. */
  readonly not: Readonly<Record<string, (inspection: Inspection) => boolean>>
  /** Look-alikes that the limits already exclude. */
  readonly toldApart?: readonly string[]
  /** Rules that explain the fault if they hold on the same device (`device`), or anywhere on the node (`node`). */
  readonly explainedBy?: Readonly<Record<string, 'device' | 'node'>>
  /**
   * Keeps an open hint open while the fault comes and goes. The hint keeps the numbers of the last time that the rule
   * held.
   */
  readonly goesOn?: { readonly while: string; readonly holds: (inspection: Inspection) => boolean }
  /**
   * Whether an open hint on the given device still explains the faults of others. A hint may be shown for longer than
   * its effect lasts. Default: as long as it is open.
   */
  readonly stillExplains?: (inspection: Inspection) => boolean
  /**
   * How far back the rule counts events. A rule that explains them still does so for this long after its end. Default:
   * 0. Unit: milliseconds.
   */
  readonly looksBackMs?: number
  /** Useful facts that no signal reports. */
  readonly lacksAlways?: readonly string[]
  /** Evaluates a device now; undefined if the rule does not hold. Look-alikes are excluded afterwards. */
  find(inspection: Inspection): RuleFinding | undefined
}
