import type { SondeError } from '../../errors.ts'
import type { FollowedFile } from '../../internal/followed-file.ts'
import type { AddedLabels } from '../../wire/prometheus/label-text.ts'
import type { PrometheusConfig } from './config.ts'
import { joinedLabels } from './joined-labels.ts'
import { checkLabelTemplates, type LabelFile, type LabelTemplates } from './label-file.ts'
import { LabelRules } from './label-rules.ts'
import { followLabelFile } from './read-label-file.ts'

/** How the label file fares. */
export interface LabelFileHealth {
  /** Versions that could not be used, so far. */
  readonly faults: number
  /** Whether it cannot be used as it is, and its last good version goes on. */
  readonly isBroken: boolean
}

const NO_FILE: LabelFile = { all: new Map(), devices: new Map(), addresses: new Map(), deviceFields: new Map() }

/** Labels that the view adds to series: constant labels, those of the label file, and those of the program. */
export class ViewLabels {
  /**
   * Undefined if there are no labels, at no cost. A new object after a change of the file, or of the program's labels.
   */
  added: AddedLabels | undefined
  #rules: LabelRules | undefined
  #own: AddedLabels | undefined
  /** Versions of the file that could not be used, so far. */
  faults = 0
  readonly #constant: LabelTemplates
  readonly #sysfs: string
  readonly #file: FollowedFile<LabelFile> | undefined
  #known: LabelFile | undefined

  /** @throws SondeError `PRM_LABELS` if a constant label or the file cannot be used. */
  constructor({ constantLabels, metadataFile, sysfs, onFault }: PrometheusConfig) {
    this.#constant = checkLabelTemplates(constantLabels, 'constantLabels of the Prometheus view')
    this.#sysfs = sysfs
    const count = (fault: SondeError) => {
      this.faults++
      onFault(fault)
    }
    this.#file = metadataFile === '' ? undefined : followLabelFile(metadataFile, count)
    this.#known = this.#file?.value
    if (this.#file !== undefined || this.#constant.size > 0) this.#rules = this.#rulesOf(this.#known ?? NO_FILE)
    this.added = this.#rules
  }

  /** Whether there is a file that may change. */
  get hasFile(): boolean {
    return this.#file !== undefined
  }

  /** Whether the file cannot be used as it is. */
  get isBroken(): boolean {
    return this.#file?.fault !== undefined
  }

  /** Looks at the file, and makes other rules where it changed. */
  async look(): Promise<void> {
    await this.#file?.look()
    const file = this.#file?.value
    if (file === undefined || file === this.#known) return
    this.#known = file
    this.#rules = this.#rulesOf(file)
    this.added = joinedLabels(this.#own, this.#rules)
  }

  /** Replaces the labels of the program. Labels of the configuration win over them. */
  set(own: AddedLabels | undefined): void {
    this.#own = own
    this.added = joinedLabels(own, this.#rules)
  }

  #rulesOf(file: LabelFile): LabelRules {
    return new LabelRules(file, this.#constant, this.#sysfs)
  }
}
