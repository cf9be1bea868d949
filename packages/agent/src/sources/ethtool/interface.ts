import { wallNs } from '@sonde/sdk'
import { CallFailure, type CallFailureKind } from '../../native/call-failure.ts'
import type { DriverInfo, EthtoolSocket, StatisticSet } from '../../native/ethtool.ts'
import { FieldAbsences } from '../field-absences.ts'
import type { SourceContext } from '../source.ts'
import type { EthtoolOptions } from './config.ts'
import { type Link, linkOf } from './link.ts'
import { Statistics } from './statistics.ts'
import { ethtoolLinkType, ethtoolPortType } from './type.ts'

/**
 * Number of reads between two queries of the link settings and the driver: both need a command to the firmware and
 * rarely change.
 */
const SETTINGS_READS = 10
const DRIVER_READS = 60

type Known<T> = T | CallFailure | undefined

/** One interface: its state between sweeps, and the open call to its driver. */
export class EthtoolInterface {
  readonly device: string
  /** Whether the kernel did not know the interface at the last read. */
  vanished = false
  readonly #calls: EthtoolSocket
  readonly #options: EthtoolOptions
  readonly #context: SourceContext
  #link: FieldAbsences
  #reads = 0
  #removed = false
  #isStuck = false
  #driver: Known<DriverInfo>
  #settings: Known<Link>
  #linkDetected: Known<boolean>
  #isMlx5 = false
  #set: StatisticSet | undefined
  #statistics: Statistics | undefined
  /** Why there are no statistics; empty while there are. */
  #refusal = ''

  constructor(device: string, calls: EthtoolSocket, options: EthtoolOptions, context: SourceContext) {
    this.device = device
    this.#calls = calls
    this.#options = options
    this.#context = context
    this.#link = this.#newLink()
  }

  #newLink(): FieldAbsences {
    return new FieldAbsences(this.#context.absences, ethtoolLinkType, { device: this.device })
  }

  /** Asks the driver, and reports what it answers. Not to be called while a read is open. */
  async read(): Promise<void> {
    try {
      await this.#ask()
    } finally {
      this.#isStuck = false
    }
  }

  /** Tells that the driver does not answer: what it counted before says nothing about now, and leaves the views. */
  reportStuck(reason: string): void {
    if (!this.#isStuck) {
      this.#isStuck = true
      this.#refuse('failed', reason)
      // The last state of the link is no longer valid.
      const failure = new CallFailure(this.device, 'the driver', `nothing: ${reason}`)
      this.#linkDetected = failure
      this.#settings = failure
    }
    this.#reportLink(0)
  }

  /** Nothing is reported of it from now on, also where a read is still open. */
  abandon(): void {
    this.#removed = true
  }

  /** It is not there any more. */
  remove(reason: string): void {
    this.abandon()
    this.#leave(reason)
  }

  /** Every series leaves the views. */
  #leave(reason: string): void {
    const { absences } = this.#context
    if (this.#statistics !== undefined) this.#statistics.gone(reason)
    else if (this.#refusal !== '') absences.gone(ethtoolPortType, { device: this.device }, reason)
    this.#statistics = undefined
    this.#refusal = ''
    absences.gone(ethtoolLinkType, { device: this.device }, reason)
    this.#link = this.#newLink()
  }

  /** The kernel does not know it: it leaves at this moment, or is of another network namespace. */
  #vanish(): void {
    if (!this.vanished && !this.#removed) this.#leave(`the kernel knows no interface ${this.device} any more`)
    this.vanished = true
  }

  async #ask(): Promise<void> {
    const { device } = this
    const reads = this.#reads++
    const linkDetected = await this.#calls.linkDetected(device)
    if (isGone(linkDetected)) return this.#vanish()
    const isDriverDue = reads % DRIVER_READS === 0 || !isAnswer(this.#driver)
    const driver = isDriverDue ? await this.#calls.driver(device) : this.#driver
    const isDue = reads % SETTINGS_READS === 0 || linkDetected !== this.#linkDetected
    const settings = isDue ? await this.#readLink() : this.#settings
    const set = await this.#calls.statistics(device, this.#set)
    if (isGone(set)) return this.#vanish()
    if (this.#removed) return
    this.vanished = false
    // Only now: while a call hung, something else may have been said of them.
    this.#linkDetected = linkDetected
    this.#driver = driver
    this.#settings = settings
    this.#reportLink(1)
    this.#reportStatistics(set)
  }

  async #readLink(): Promise<Link | CallFailure> {
    const settings = await this.#calls.linkSettings(this.device)
    return settings instanceof CallFailure ? settings : linkOf(settings)
  }

  #reportStatistics(set: StatisticSet | CallFailure): void {
    if (set instanceof CallFailure) {
      if (set.kind === 'failed') this.#context.failed(this.device, set.error)
      this.#refuse(set.kind, set.error.message)
      return
    }
    const isMlx5 = isAnswer(this.#driver) && this.#driver.driver.startsWith('mlx5')
    if (set !== this.#set || this.#statistics === undefined || isMlx5 !== this.#isMlx5) {
      const next = new Statistics(this.device, set, { isMlx5 }, this.#options, this.#context)
      if (this.#refusal !== '') this.#context.absences.clear(ethtoolPortType, { device: this.device }, '')
      this.#refusal = ''
      next.announce(this.#statistics)
      this.#set = set
      this.#isMlx5 = isMlx5
      this.#statistics = next
    }
    this.#statistics.report(wallNs())
  }

  /** There are no statistics now. A number that stands still would look like a device that does nothing. */
  #refuse(code: CallFailureKind, reason: string): void {
    if (this.#statistics !== undefined) {
      this.#statistics.gone(reason)
      this.#statistics = undefined
      this.#set = undefined
    }
    if (this.#refusal === reason) return
    this.#refusal = reason
    this.#context.absences.set(ethtoolPortType, { device: this.device }, '', code, reason)
  }

  #reportLink(responsive: number): void {
    const { device } = this
    const detected = this.#linkDetected
    const link = isAnswer(this.#settings) ? this.#settings : undefined
    const driver = isAnswer(this.#driver) ? this.#driver : undefined
    const ofCarrier = { detected: isAnswer(detected) ? Number(detected) : undefined }
    const ofLink = {
      speed_bytes_per_second: link?.speed_bytes_per_second,
      full_duplex: link?.full_duplex,
      autonegotiation: link?.autonegotiation,
      lanes: link?.lanes,
      port_kind: link?.port_kind,
    }
    const ofDriver = {
      driver: driver?.driver || undefined,
      driver_version: driver?.version || undefined,
      firmware: driver?.firmware || undefined,
      address: driver?.busInfo || undefined,
    }
    this.#tell(ofCarrier, detected)
    this.#tell(ofLink, this.#settings)
    this.#tell(ofDriver, this.#driver)
    const record = { time: wallNs(), device, responsive, ...ofCarrier, ...ofLink, ...ofDriver }
    this.#context.report(device).report(ethtoolLinkType, record)
  }

  /** Says why fields are absent: for the call that failed, or because the answer does not hold them. */
  #tell(fields: Readonly<Record<string, unknown>>, answer: Known<unknown>): void {
    for (const [field, value] of Object.entries(fields)) {
      if (value !== undefined) this.#link.present(field)
      else if (answer instanceof CallFailure) this.#link.absent(field, answer.kind, answer.error.message)
      else this.#link.absent(field, 'unsupported', WHY[field] ?? 'the driver does not tell')
    }
  }
}

const WHY: Readonly<Record<string, string>> = {
  speed_bytes_per_second: 'the driver has no speed to tell while the link is down or for a virtual device',
  lanes: 'the link modes of this speed have different numbers of lanes, or the driver lists none',
}

function isGone(known: unknown): boolean {
  return known instanceof CallFailure && known.kind === 'gone'
}

function isAnswer<T>(known: Known<T>): known is T {
  return known !== undefined && !(known instanceof CallFailure)
}
