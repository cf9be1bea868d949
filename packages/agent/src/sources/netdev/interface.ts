import { type Integer64, SondeError } from '@sonde/sdk'
import { FieldAbsences } from '../field-absences.ts'
import { type KernelFile, type KernelFiles, ReadFailure } from '../kernel-file.ts'
import { isNumber, type NumberFailure, narrow, parseAttribute } from '../kernel-text.ts'
import type { SourceContext } from '../source.ts'
import { type NetdevRecord, type Operstate, parseOperstate, parseSpeed } from './parse.ts'
import { netdevType } from './type.ts'

type AttributeField = 'up' | 'carrier' | 'speed_bytes' | 'mtu_bytes' | 'carrier_changes_total'

/** Why the kernel refuses to read these: it answers EINVAL, which says nothing to people. */
const REFUSALS: ReadonlyMap<AttributeField, string> = new Map([
  ['carrier', 'the interface is switched off'],
  ['speed_bytes', 'the driver has no speed to tell while the link is down or for a virtual device'],
])

const U32_LIMIT = 0xffffffff

/**
 * The attributes of one interface in sysfs, as last read. Cheap ones are read at every `refresh`; `carrier` and `speed` make the kernel take its network lock, and
 * a driver ask its firmware, so they are read when the link changed and at `reopen`.
 */
export class NetdevInterface {
  readonly device: string
  /** The sweep that last saw the interface; for the source. */
  sweep = 0
  readonly #context: SourceContext
  readonly #files: Readonly<Record<'operstate' | 'carrier' | 'carrier_changes' | 'speed' | 'mtu', KernelFile>>
  readonly #absences: FieldAbsences
  #operstate: Operstate | undefined
  #up: number | undefined
  #carrier: number | undefined
  #speedBytes: number | undefined
  #mtuBytes: number | undefined
  #carrierChanges: Integer64 | undefined

  constructor(device: string, folder: string | Buffer, sysfs: KernelFiles, context: SourceContext) {
    const file = (name: string) => sysfs.file('class', 'net', folder, name)
    this.device = device
    this.#context = context
    this.#absences = new FieldAbsences(context.absences, netdevType, { device })
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
    record.speed_bytes = this.#speedBytes
    record.mtu_bytes = this.#mtuBytes
    record.carrier_changes_total = this.#carrierChanges
  }

  /** Closes the files; a later read opens them again. */
  close(): void {
    for (const file of Object.values(this.#files)) file.close()
  }

  #refreshState(): void {
    this.#operstate = this.#readOperstate()
    this.#carrierChanges = this.#number('carrier_changes_total', this.#files.carrier_changes)
    this.#mtuBytes = narrow(this.#number('mtu_bytes', this.#files.mtu, U32_LIMIT))
  }

  #refreshLink(): void {
    this.#carrier = narrow(this.#number('carrier', this.#files.carrier, 1))
    this.#speedBytes = narrow(this.#number('speed_bytes', this.#files.speed, Number.MAX_SAFE_INTEGER, parseSpeed))
  }

  /** `unknown` is what drivers leave that do not track the state (loopback, tunnels): the carrier decides then. */
  #derive(): void {
    const operstate = this.#operstate
    if (operstate === undefined) this.#up = undefined
    else this.#up = operstate === 'up' || (operstate === 'unknown' && this.#carrier === 1) ? 1 : 0
  }

  #readOperstate(): Operstate | undefined {
    const file = this.#files.operstate
    const bytes = file.read()
    if (bytes instanceof ReadFailure) {
      this.#refused('up', bytes)
      return undefined
    }
    const operstate = parseOperstate(bytes)
    if (operstate === undefined) this.#wrong('up', `${file.path} holds no state of an interface`)
    else this.#absences.present('up')
    return operstate
  }

  #number(
    field: AttributeField,
    file: KernelFile,
    limit?: number,
    parse: (bytes: Uint8Array) => Integer64 | NumberFailure = parseAttribute,
  ): Integer64 | undefined {
    const bytes = file.read()
    if (bytes instanceof ReadFailure) {
      this.#refused(field, bytes)
      return undefined
    }
    const value = parse(bytes)
    if (!isNumber(value)) {
      if (value === 'negative') this.#absences.absent(field, 'unsupported', `${file.path}: the driver does not know it`)
      else this.#wrong(field, `${file.path} holds no number (${value})`)
      return undefined
    }
    if (limit !== undefined && value > limit) {
      this.#wrong(field, `${file.path} says ${value}, which is beyond ${limit}`)
      return undefined
    }
    this.#absences.present(field)
    return value
  }

  #refused(field: AttributeField, { kind, code, error }: ReadFailure): void {
    if (kind === 'failed') this.#context.failed(`${this.device} ${field}`, error)
    this.#absences.absent(field, code, (kind === 'unsupported' && REFUSALS.get(field)) || error.message)
  }

  #wrong(field: AttributeField, reason: string): void {
    this.#context.failed(`${this.device} ${field}`, new SondeError('SRC_READ', reason))
    this.#absences.absent(field, 'failed', reason)
  }
}
