import type { Labels, RecordOf, RecordType } from '@sonde/sdk'
import { AttributeReader } from '../attribute-reader.ts'
import { emptyRecord } from '../empty-record.ts'
import { FieldAbsences, Missing } from '../field-absences.ts'
import { type KernelFile, type KernelFiles, ReadFailure } from '../kernel-file.ts'
import { parseCarrier } from '../netdev/parse.ts'
import type { SourceContext } from '../source.ts'
import { CounterFolder } from './counter-folder.ts'
import { HwCounters } from './hw-counters.ts'
import { PortIdentity } from './identity.ts'
import { readingNow } from './link-pace.ts'
import { HW_PORT_COUNTERS, PORT_COUNTERS, type PortField } from './names.ts'
import { parseRate, parseState } from './parse.ts'
import { rdmaPortCountersType, rdmaPortType } from './type.ts'

const MS_PER_SECOND = 1000
/** This driver reports ACTIVE and LinkUp whatever the link does. */
const CONSTANT_STATE = 'efa'
const [DOWN, ACTIVE] = [1, 4]
const NO_STATE = new Missing(
  'unsupported',
  `the driver ${CONSTANT_STATE} always reports ACTIVE and LinkUp, and the port has no interface whose carrier could be read`,
)
const NO_RATE = new Missing('unsupported', 'the rate of the port cannot be read')

/**
 * The frequent files of a port that a sweep reads beside its traffic. With very many ports, one half of them has its
 * state read and the other half `rdma_hw_first`, alternating.
 */
export type FrequentShare = 'all' | 'state' | 'hardware'

/** One port of an RDMA device: its identity, its link, and its two folders of counters. */
export class RdmaPort {
  readonly #context: SourceContext
  readonly #sysfs: KernelFiles
  readonly #labels: Labels
  readonly #record: RecordOf<typeof rdmaPortType>
  readonly #rest: RecordOf<typeof rdmaPortCountersType>
  readonly #attributes: AttributeReader
  readonly #identity: PortIdentity
  readonly #counters: CounterFolder<PortField>
  readonly #hw: HwCounters
  readonly #files: Readonly<Record<'state' | 'phys_state' | 'rate', KernelFile>>
  #stateThere = false
  #restMs = 0
  #reported = false

  constructor(device: string, port: number, sysfs: KernelFiles, context: SourceContext) {
    const path = ['class', 'infiniband', device, 'ports', String(port)]
    this.#context = context
    this.#sysfs = sysfs
    this.#labels = { rdma_device: device, port: String(port) }
    this.#record = { ...emptyRecord(rdmaPortType), rdma_device: device, port }
    this.#rest = { ...emptyRecord(rdmaPortCountersType), rdma_device: device, port }
    const attributesOf = (type: RecordType) =>
      new AttributeReader(context, new FieldAbsences(context.absences, type, this.#labels))
    this.#attributes = attributesOf(rdmaPortType)
    this.#identity = new PortIdentity(sysfs, this.#attributes, this.#record)
    const parts = {
      frequent: { record: this.#record, attributes: this.#attributes },
      rest: { record: this.#rest, attributes: attributesOf(rdmaPortCountersType) },
    }
    const beside = { path: [...path, 'hw_counters'], forms: HW_PORT_COUNTERS }
    this.#counters = new CounterFolder([...path, 'counters'], PORT_COUNTERS, sysfs, parts, { beside })
    this.#hw = new HwCounters(device, port, [...path, 'hw_counters'], sysfs, context)
    this.#files = {
      state: sysfs.file(...path, 'state'),
      phys_state: sysfs.file(...path, 'phys_state'),
      rate: sysfs.file(...path, 'rate'),
    }
  }

  /**
   * Reads the identity of the port and lists its counters. If another device has the name now, everything is opened
   * again, because a kept descriptor follows the old device.
   */
  scan(): void {
    if (!this.#identity.scan()) {
      this.close()
      this.#counters.clear()
      this.#hw.clear()
    }
    const scanned = this.#counters.scan()
    this.#counters.reportAbsent('frequent', scanned)
    this.#counters.reportAbsent('rest', scanned)
    this.#hw.scan()
  }

  /** Starts a sweep. A second call in the same sweep does nothing. */
  startSweep(nowMs: number): void {
    this.#hw.startSweep(nowMs)
  }

  /** Reads the files of every sweep, or a part of them. Returns false if a listed file is missing. */
  readFrequent(nowMs: number, share: FrequentShare): boolean {
    if (share !== 'hardware') this.#readState()
    const reading = readingNow(this.#record.rate_bytes_per_second)
    const complete = this.#counters.read('frequent', reading)
    if (share === 'state') return complete && this.#stateThere
    this.startSweep(nowMs)
    return this.#hw.read('frequent', reading) && complete && this.#stateThere
  }

  #readState(): void {
    const { state: file } = this.#files
    const before = this.#record.state
    const bytes = file.read()
    this.#stateThere = !(bytes instanceof ReadFailure && bytes.kind === 'missing')
    const state = bytes instanceof ReadFailure ? undefined : parseState(bytes)
    const { absences } = this.#attributes
    if (this.#record.driver === CONSTANT_STATE) {
      this.#record.state = absences.settle('state', this.#stateOfCarrier())
      if (before !== this.#record.state) this.#readLink()
    } else if (state === undefined || state !== before) {
      this.#record.state = absences.settle(
        'state',
        this.#attributes.value(file, () => state, bytes),
      )
      this.#readLink()
    }
  }

  /** Returns the state of a port whose driver always reports ACTIVE, by the carrier of its interface. */
  #stateOfCarrier(): number | Missing {
    const [netdev] = this.#record.netdevs?.split(' ') ?? []
    if (netdev === undefined) return NO_STATE
    const file = this.#sysfs.file('class', 'net', netdev, 'carrier')
    const carrier = this.#attributes.value(file, parseCarrier)
    file.close()
    return carrier instanceof Missing ? carrier : carrier === 1 ? ACTIVE : DOWN
  }

  /** Reads the files that are read in turns. Returns false if a listed file is missing. */
  readRest(nowMs: number): boolean {
    this.#restMs = nowMs
    this.#readLink()
    const reading = readingNow(this.#record.rate_bytes_per_second)
    const complete = this.#counters.read('rest', reading)
    return this.#hw.read('rest', reading) && complete
  }

  /** Whether any file of the port existed in this sweep. */
  get there(): boolean {
    return this.#stateThere || this.#counters.there || this.#hw.there
  }

  /**
   * Reports the counters that were read since the last report. Repeating an old value would show a rate of 0 now and a
   * rate that is too high later.
   */
  report(nowMs: number): void {
    const { saturated } = this.#counters
    this.#record.saturated_counters = saturated.length
    this.#record.saturated = saturated.length === 0 ? '' : saturated.join(' ')
    this.#record.turn_age_seconds = Math.max(0, Math.round(nowMs - this.#restMs)) / MS_PER_SECOND
    this.#record.time = this.#counters.takeReadNs('frequent') ?? this.#record.time
    this.#context.source.report(rdmaPortType, this.#record)
    const restNs = this.#counters.takeReadNs('rest')
    if (restNs !== undefined && this.#counters.count('rest') > 0) {
      this.#rest.time = restNs
      this.#context.source.report(rdmaPortCountersType, this.#rest)
    }
    this.#hw.report()
    this.#reported = true
  }

  /** Reports all its series as gone. */
  forget(reason: string): void {
    this.close()
    this.#hw.forget(reason)
    if (this.#reported)
      for (const type of [rdmaPortType, rdmaPortCountersType]) this.#context.absences.gone(type, this.#labels, reason)
    this.#reported = false
  }

  /** Closes the files that are read in turns. */
  closeRest(): void {
    this.#files.phys_state.close()
    this.#files.rate.close()
    this.#counters.closeRest()
    this.#hw.closeRest()
  }

  close(): void {
    for (const file of Object.values(this.#files)) file.close()
    this.#identity.close()
    this.#counters.close()
    this.#hw.close()
  }

  #readLink(): void {
    const { phys_state, rate: rateFile } = this.#files
    this.#record.phys_state = this.#attributes.read('phys_state', phys_state, (bytes) =>
      this.#record.driver === CONSTANT_STATE ? NO_STATE : parseState(bytes),
    )
    const rate = this.#attributes.read('rate_bytes_per_second', rateFile, parseRate)
    const { absences } = this.#attributes
    this.#record.rate_bytes_per_second = rate?.rate_bytes_per_second
    this.#record.width_lanes = absences.settle('width_lanes', rate?.width_lanes ?? NO_RATE)
    this.#record.signalling = absences.settle('signalling', rate?.signalling ?? NO_RATE)
  }
}
