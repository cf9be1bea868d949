import { nameFilter } from '../config/name-filter.ts'
import { type BatchProjection, batchProjection } from '../fieldset/batch-projection.ts'
import { coreOf, type FieldSet } from '../fieldset/fieldset.ts'
import type { CurrentSet } from '../fieldset/followed-sets.ts'
import { LabelChanges, type LabelOptions } from '../fieldset/label-changes.ts'
import type { Batch, SourceInfo } from '../schema/batch.ts'
import type { FieldClass } from '../schema/field.ts'
import type { RecordType } from '../schema/record-type.ts'
import { countDrop, type Sink } from '../sink/sink.ts'
import { sourceFilter } from './source-tags.ts'

/** The records of a destination, and whether acknowledgements wait for it. */
export interface RouteOptions {
  /** The fields that pass. Default: all. */
  readonly fieldSet?: CurrentSet | undefined
  /** `core`: of these, only fields of class `core` pass. Default: `full`. */
  readonly set?: FieldClass | undefined
  /** Interval of which the sink passes on the last record of each series. Unit: seconds. Default: 0, every record. */
  readonly intervalS?: number
  /** Changes of labels. Default: none. */
  readonly labels?: LabelOptions | undefined
  /** Patterns of the names of sources. Default: all. */
  readonly sources?: readonly string[]
  /** Tags of applications, and `counters` for sources without a tag. Default: all. */
  readonly tags?: readonly string[]
  /** Batches that it is not given. Default: none. */
  readonly leavesOut?: (batch: Batch) => boolean
  /** Whether an acknowledgement waits for it. Default: true; an agent waits for durable sinks only. */
  readonly acknowledges?: boolean
  /** Whether clients of an agent wait while its queue is full. Default: false. */
  readonly blocks?: boolean
}

/** Why records are dropped while a field set that was asked for has never been read. */
const NO_FIELD_SET = 'no_field_set'

/** The route to one sink, which removes filtered records and fields. */
export class Route {
  readonly sink: Sink
  /** The class of the fields that pass. */
  readonly set: FieldClass
  /** See {@link RouteOptions}. Unit: seconds. */
  readonly intervalS: number
  /** Whether an acknowledgement waits for it. */
  readonly acknowledges: boolean
  /** Whether clients of an agent wait while its queue is full. */
  readonly blocks: boolean
  readonly #fieldSet: CurrentSet | undefined
  readonly #labels: LabelChanges | undefined
  readonly #leavesOut: ((batch: Batch) => boolean) | undefined
  readonly #admits: ((source: SourceInfo) => boolean) | undefined
  readonly #admitted = new WeakMap<SourceInfo, boolean>()
  /** The version that the projections are of. */
  #version: FieldSet | undefined
  #projections = new WeakMap<RecordType, BatchProjection>()

  constructor(sink: Sink, options: RouteOptions = {}) {
    const { fieldSet, labels = {}, sources = [], tags = [], leavesOut } = options
    this.sink = sink
    this.acknowledges = options.acknowledges ?? true
    this.blocks = options.blocks ?? false
    this.#fieldSet = fieldSet
    this.set = options.set ?? 'full'
    this.intervalS = options.intervalS ?? 0
    const isChanged = Object.values(labels).some((changes) => Object.keys(changes).length > 0)
    this.#labels = isChanged ? new LabelChanges(labels, () => sink.stats.errors++) : undefined
    this.#leavesOut = leavesOut
    if (sources.length === 0 && tags.length === 0) return
    const [isNamed, isTagged] = [nameFilter(sources), sourceFilter(tags)]
    this.#admits = (source) => isNamed(source.id) && isTagged(source)
  }

  /** Why it fails, as a sentence; empty while all is well, undefined if the sink does not say. */
  get failing(): string | undefined {
    const fault = this.#fieldSet?.fault || this.#labels?.fault || ''
    return fault === '' ? this.sink.failing : fault
  }

  /** What of a batch passes; undefined if nothing does. Its bytes are valid during the call, as those given. */
  pass(batch: Batch): Batch | undefined {
    if (this.#leavesOut?.(batch)) return undefined
    if (!this.admits(batch.source)) return undefined
    const isUnchanged = this.#fieldSet === undefined && this.set === 'full' && this.#labels === undefined
    return isUnchanged ? batch : this.#project(batch)
  }

  /** The client of a source has disconnected for good. */
  retire(source: SourceInfo): void {
    this.sink.retire?.(this.#labels?.sourceOf(source) ?? source)
  }

  /** Whether records of a source may pass, by its name and tag. */
  admits(source: SourceInfo): boolean {
    if (this.#admits === undefined) return true
    const known = this.#admitted.get(source)
    if (known !== undefined) return known
    const isAdmitted = this.#admits(source)
    this.#admitted.set(source, isAdmitted)
    return isAdmitted
  }

  #project(batch: Batch): Batch | undefined {
    const set = this.#fieldSet?.current
    if (set === undefined && this.#fieldSet !== undefined) {
      this.sink.stats.in += batch.count
      countDrop(this.sink.stats, NO_FIELD_SET, batch.count)
      return undefined
    }
    if (set !== this.#version) {
      this.#version = set
      this.#projections = new WeakMap()
    }
    let projection = this.#projections.get(batch.type)
    if (projection === undefined) {
      projection = batchProjection(batch.type, { set: this.set === 'core' ? coreOf(set) : set, labels: this.#labels })
      this.#projections.set(batch.type, projection)
    }
    return projection(batch)
  }
}
