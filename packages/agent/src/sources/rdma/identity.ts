import type { RecordOf } from '@sonde/sdk'
import type { AttributeReader, ParseAttribute } from '../attribute-reader.ts'
import { Missing } from '../field-absences.ts'
import { type KernelFile, type KernelFiles, ReadFailure } from '../kernel-file.ts'
import { isRepresentor } from '../representor.ts'
import { parseInterface, parseLine, parseUevent } from './parse.ts'
import type { rdmaPortType } from './type.ts'

const LINE_FIELDS = ['firmware', 'model', 'board', 'node_guid', 'link_layer'] as const
/**
 * Highest number of GIDs whose interface is read. Each interface has one of the first GIDs. A read past the last GID
 * fails, which is slow.
 */
const GID_LIMIT = 16
const SILENT = new Missing('unsupported', 'the file of the driver is empty')
const NO_PLACE = new Missing('unsupported', 'the device is not a PCI device, or has no driver')
const NO_NETDEV = new Missing('unsupported', 'no network interface belongs to the port')

/** Reads what stays the same while the device exists: firmware, model, address and interfaces of a port. */
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
    const device = ['class', 'infiniband', record.rdma_device]
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

  /** Reads everything into the record, from newly opened files. Returns whether it is still the same device. */
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
      const found = place instanceof Missing ? place : (place[field] ?? NO_PLACE)
      this.#record[field] = this.#attributes.absences.settle(field, found)
    }
  }

  /**
   * Finds the interfaces of the port. RoCE ports list them in the table of GIDs. InfiniBand devices have IPoIB
   * interfaces below the device, shared by its ports. Representors are left out: their link belongs to a VM.
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
      if (name instanceof Missing) break
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

  /** Reads a file that is not kept open. */
  #readOnce<T>(path: readonly string[], parse: ParseAttribute<T>): T | Missing {
    const file = this.#sysfs.file(...path)
    const value = this.#attributes.value(file, parse)
    file.close()
    return value
  }
}
