import type { RecordOf } from '@sonde/sdk'
import type { AttributeReader, ParseAttribute } from '../attribute-reader.ts'
import { Lack } from '../field-absences.ts'
import { type KernelFile, type KernelFiles, ReadFailure } from '../kernel-file.ts'
import { isRepresentor } from '../representor.ts'
import { parseInterface, parseLine, parseUevent } from './parse.ts'
import type { rdmaPortType } from './type.ts'

const LINE_FIELDS = ['firmware', 'model', 'board', 'node_guid', 'link_layer'] as const
/**
 * GIDs that are asked for their interface: each interface has one of the first, and a look past the last is an error,
 * which is slow.
 */
const GID_LIMIT = 16
const SILENT = new Lack('unsupported', 'the driver does not say: its file is empty')
const NO_PLACE = new Lack('unsupported', 'the device is none of PCI, or has none')
const NO_NETDEV = new Lack('unsupported', 'no network interface belongs to the port')

/** What a port is, as far as that stays while its device does: firmware, model, place and interfaces. */
export class PortIdentity {
  readonly #number: number
  readonly #sysfs: KernelFiles
  readonly #attributes: AttributeReader
  readonly #record: RecordOf<typeof rdmaPortType>
  readonly #device: readonly string[]
  readonly #port: readonly string[]
  readonly #lines: Readonly<Record<(typeof LINE_FIELDS)[number], KernelFile>>
  readonly #uevent: KernelFile

  constructor(sysfs: KernelFiles, attributes: AttributeReader, record: RecordOf<typeof rdmaPortType>) {
    const device = ['class', 'infiniband', record.device]
    const port = [...device, 'ports', String(record.port)]
    this.#number = record.port
    this.#sysfs = sysfs
    this.#attributes = attributes
    this.#record = record
    this.#device = device
    this.#port = port
    this.#lines = {
      firmware: sysfs.file(...device, 'fw_ver'),
      model: sysfs.file(...device, 'hca_type'),
      board: sysfs.file(...device, 'board_id'),
      node_guid: sysfs.file(...device, 'node_guid'),
      link_layer: sysfs.file(...port, 'link_layer'),
    }
    this.#uevent = sysfs.file(...device, 'device', 'uevent')
  }

  /**
   * Reads all of it into the record, from files opened anew. Whether the device is the one that had the name before.
   */
  scan(): boolean {
    const { node_guid: guid, address } = this.#record
    for (const field of LINE_FIELDS) {
      this.#record[field] = this.#attributes.read(field, this.#lines[field], (bytes) => {
        const line = parseLine(bytes)
        return line === '' ? SILENT : line
      })
    }
    this.#readUevent()
    this.#readNetdevs()
    this.close()
    return this.#record.node_guid === guid && this.#record.address === address
  }

  close(): void {
    for (const file of Object.values(this.#lines)) file.close()
    this.#uevent.close()
  }

  #readUevent(): void {
    const place = this.#attributes.value(this.#uevent, parseUevent)
    for (const field of ['driver', 'address'] as const) {
      const found = place instanceof Lack ? place : (place[field] ?? NO_PLACE)
      this.#record[field] = this.#attributes.absences.settle(field, found)
    }
  }

  /**
   * RoCE has its interfaces in the table of GIDs. InfiniBand has those of IPoIB below the device, which its ports
   * share. Those that stand for a function of the adapter are none of a port's: what happens to their link happens to a
   * VM.
   */
  #readNetdevs(): void {
    const names = this.#gidNetdevs()
    if (names.size === 0) for (const name of this.#deviceNetdevs()) names.add(name)
    const own = [...names].filter((name) => !isRepresentor(name, this.#sysfs, this.#attributes))
    const found = own.length === 0 ? NO_NETDEV : own.join(' ')
    this.#record.netdevs = this.#attributes.absences.settle('netdevs', found)
  }

  #gidNetdevs(): Set<string> {
    const names = new Set<string>()
    for (let index = 0; index < GID_LIMIT; index++) {
      const name = this.#readOnce([...this.#port, 'gid_attrs', 'ndevs', String(index)], parseInterface)
      if (name instanceof Lack) break
      names.add(name)
    }
    return names
  }

  #deviceNetdevs(): string[] {
    const folder = [...this.#device, 'device', 'net']
    const listed = this.#sysfs.list(...folder)
    if (listed instanceof ReadFailure) return []
    const port = String(this.#number - 1)
    return listed.sort().filter((name) => this.#readOnce([...folder, name, 'dev_port'], parseLine) === port)
  }

  /** What a file holds that is not kept open. */
  #readOnce<T>(path: readonly string[], parse: ParseAttribute<T>): T | Lack {
    const file = this.#sysfs.file(...path)
    const value = this.#attributes.value(file, parse)
    file.close()
    return value
  }
}
