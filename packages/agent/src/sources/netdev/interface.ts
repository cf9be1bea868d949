import { basename } from 'node:path'
import type { RecordOf, RecordType } from '@sonde/sdk'
import type { Integer64 } from '@sonde/sdk/internal'
import { AttributeReader, type ExplainFailure } from '../attribute-reader.ts'
import { FieldAbsences } from '../field-absences.ts'
import type { FailureKind, KernelFile, KernelFiles } from '../kernel-file.ts'
import { parseNumber } from '../kernel-text.ts'
import type { SourceContext } from '../source.ts'
import { type NetdevRecord, type Operstate, parseCarrier, parseMtu, parseOperstate, parseSpeed } from './parse.ts'
import { netdevCarrierType, netdevType } from './type.ts'

/** Why the kernel refuses to read these: it answers EINVAL, which says nothing to people. */
const REFUSALS: Readonly<Record<string, string>> = {
  carrier: 'the interface is switched off',
  speed: 'the driver has no speed to tell while the link is down or for a virtual device',
}
const explain: ExplainFailure = ({ kind, words }, { path }) => refusalWords(kind, path) ?? words

/** Why a file of an interface that the kernel refuses gives nothing; undefined if its own words say it. */
export function refusalWords(kind: FailureKind, path: string): string | undefined {
  return kind === 'unsupported' ? REFUSALS[basename(path)] : undefined
}

/**
 * The attributes of one interface in sysfs, as last read. Cheap ones are read at every `refresh`; `carrier` and `speed`
 * make the kernel take its network lock, and a driver ask its firmware, so they are read when the link changed and at
 * `reopen`.
 */
export class NetdevInterface {
  readonly device: string
  /** The sweep that last saw the interface; for the source. */
  sweep = 0
  readonly #attributes: AttributeReader
  readonly #carrierAttributes: AttributeReader
  readonly #files: Readonly<Record<'operstate' | 'carrier' | 'carrier_changes' | 'speed' | 'mtu', KernelFile>>
  #operstate: Operstate | undefined
  #up: number | undefined
  #carrier: number | undefined
  #speedBytes: number | undefined
  #mtuBytes: number | undefined
  #carrierChanges: Integer64 | undefined

  constructor(device: string, folder: string | Buffer, sysfs: KernelFiles, context: SourceContext) {
    const file = (name: string) => sysfs.file('class', 'net', folder, name)
    this.device = device
    const absencesOf = (type: RecordType) => new FieldAbsences(context.absences, type, { device })
    this.#attributes = new AttributeReader(context, absencesOf(netdevType), explain)
    this.#carrierAttributes = new AttributeReader(context, absencesOf(netdevCarrierType), explain)
    this.#files = {
      operstate: file('operstate'),
      carrier: file('carrier'),
      carrier_changes: file('carrier_changes'),
      speed: file('speed'),
      mtu: file('mtu'),
    }
  }

  /** Reads what is cheap, and the rest where the link changed. */
  refresh(): void {
    const changesBefore = this.#carrierChanges
    const operstateBefore = this.#operstate
    this.#refreshState()
    if (this.#carrierChanges !== changesBefore || this.#operstate !== operstateBefore) this.#refreshLink()
    this.#derive()
  }

  /** Opens every file anew and reads it: a kept descriptor follows its interface when that is renamed. */
  reopen(): void {
    this.close()
    this.#refreshState()
    this.#refreshLink()
    this.#derive()
  }

  /** Fills in the attributes of a record. */
  complete(record: NetdevRecord): void {
    record.up = this.#up
    record.carrier = this.#carrier
    record.speed_bytes_per_second = this.#speedBytes
    record.mtu_bytes = this.#mtuBytes
  }

  /** What was counted of the carrier at the last read. */
  carrierRecord(time: Integer64): RecordOf<typeof netdevCarrierType> {
    return { time, device: this.device, carrier_changes_total: this.#carrierChanges }
  }

  /** Closes the files; a later read opens them again. */
  close(): void {
    for (const file of Object.values(this.#files)) file.close()
  }

  #refreshState(): void {
    const { operstate, carrier_changes, mtu } = this.#files
    this.#operstate = this.#attributes.read('up', operstate, parseOperstate)
    this.#carrierChanges = this.#carrierAttributes.read('carrier_changes_total', carrier_changes, parseNumber)
    this.#mtuBytes = this.#attributes.read('mtu_bytes', mtu, parseMtu)
  }

  #refreshLink(): void {
    const { carrier, speed } = this.#files
    this.#carrier = this.#attributes.read('carrier', carrier, parseCarrier)
    this.#speedBytes = this.#attributes.read('speed_bytes_per_second', speed, parseSpeed)
  }

  /** `unknown` is what drivers leave that do not track the state (loopback, tunnels): the carrier decides then. */
  #derive(): void {
    const operstate = this.#operstate
    if (operstate === undefined) this.#up = undefined
    else this.#up = operstate === 'up' || (operstate === 'unknown' && this.#carrier === 1) ? 1 : 0
  }
}
