import { DocaFailure } from './failure.ts'
import { TEXT_BYTES } from './layout.ts'
import { type Argument, addressesAt, type DocaLibrary } from './library.ts'
import type { DocaSymbol } from './symbols.ts'

/** Devices that are listed at most; a library that tells of more is not believed. */
const DEVICES_MAX = 4096
/** Memory of one device for what calls write. V8 does not move a buffer of this size, and a library may write more. */
const MEMORY_BYTES = 8192
const OUT_BYTES = 8

/** A device by its three names. A name that the library does not tell is empty. */
export interface DocaDeviceNames {
  /** RDMA device, such as `mlx5_0`. */
  readonly name: string
  /** `0000:3a:00.0`. */
  readonly pciAddress: string
  /** Network interface. */
  readonly netdev: string
}

/** Devices that the library lists. */
export async function listDocaDevices(library: DocaLibrary): Promise<readonly DocaDeviceNames[] | DocaFailure> {
  const memory = new DocaMemory()
  return withList(library, memory, async (infos) => {
    const devices: DocaDeviceNames[] = []
    for (const info of infos) devices.push(await namesOf(library, memory, info))
    return devices
  })
}

/** A device that is open, with the memory of its calls. At most one call at a time. */
export class DocaDevice {
  readonly name: string
  readonly library: DocaLibrary
  readonly memory: DocaMemory
  readonly handle: bigint
  /** What capabilities are asked of. */
  readonly info: bigint
  #closed = false

  private constructor(name: string, library: DocaLibrary, memory: DocaMemory, handle: bigint, info: bigint) {
    this.name = name
    this.library = library
    this.memory = memory
    this.handle = handle
    this.info = info
  }

  /** Opens a device by its RDMA name, which must be equal: a prefix would take `mlx5_1` for `mlx5_10`. */
  static open(library: DocaLibrary, name: string): Promise<DocaDevice | DocaFailure> {
    const memory = new DocaMemory()
    return withList(library, memory, async (infos) => {
      for (const info of infos) {
        if ((await ibNameOf(library, memory, info)) !== name) continue
        const failure = await library.call(name, 'doca_dev_open', info, memory.out)
        if (failure !== undefined) return failure
        const handle = memory.address
        return new DocaDevice(name, library, memory, handle, await library.address(name, 'doca_dev_as_devinfo', handle))
      }
      return new DocaFailure(name, 'doca_dev_open', 'DEVICE_FATAL_ERROR')
    })
  }

  call(symbol: DocaSymbol, ...args: Argument[]): Promise<DocaFailure | undefined> {
    return this.library.call(this.name, symbol, ...args)
  }

  /** Makes calls one after another, up to the first that fails. */
  async callAll(calls: readonly (readonly [DocaSymbol, ...Argument[]])[]): Promise<DocaFailure | undefined> {
    for (const [symbol, ...args] of calls) {
      const failure = await this.call(symbol, ...args)
      if (failure !== undefined) return failure
    }
    return undefined
  }

  /** Asks for a number that fits 32 bits. */
  async number(symbol: DocaSymbol, ...args: Argument[]): Promise<number | DocaFailure> {
    return (await this.call(symbol, ...args, this.memory.cleared)) ?? this.memory.number
  }

  /** Makes a context of the device; its address. */
  async create(symbol: DocaSymbol, ...args: Argument[]): Promise<bigint | DocaFailure> {
    return (await this.call(symbol, this.handle, ...args, this.memory.cleared)) ?? this.memory.address
  }

  /** May be called twice. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.call('doca_dev_close', this.handle)
  }
}

/** Memory that the calls of one device write: taken once, and larger than any of them says that it needs. */
export class DocaMemory {
  readonly #bytes = Buffer.from(new ArrayBuffer(MEMORY_BYTES))
  /** Where a call writes a number or an address. */
  readonly out: Buffer = this.#bytes.subarray(0, OUT_BYTES)
  /** Where a call writes a second number. */
  readonly second: Buffer = this.#bytes.subarray(OUT_BYTES, 2 * OUT_BYTES)
  readonly text: Buffer = this.#bytes.subarray(64)

  /** The same as {@link out}, of zeros. */
  get cleared(): Buffer {
    return this.out.fill(0)
  }

  get flag(): boolean {
    return this.out[0] !== 0
  }

  get number(): number {
    return this.out.readUInt32LE()
  }

  get address(): bigint {
    return this.out.readBigUInt64LE()
  }
}

/** Does something with the list of devices, which holds for so long. */
async function withList<T>(
  library: DocaLibrary,
  memory: DocaMemory,
  use: (infos: readonly bigint[]) => Promise<T>,
): Promise<T | DocaFailure> {
  const failure = await library.call('the node', 'doca_devinfo_create_list', memory.out, memory.second)
  if (failure !== undefined) return failure
  const list = memory.address
  try {
    return await use(addressesAt(list, Math.min(memory.second.readUInt32LE(), DEVICES_MAX)))
  } finally {
    await library.call('the node', 'doca_devinfo_destroy_list', list)
  }
}

async function namesOf(library: DocaLibrary, memory: DocaMemory, info: bigint): Promise<DocaDeviceNames> {
  const name = await ibNameOf(library, memory, info)
  const pciAddress = await textOf(library, memory, TEXT_BYTES.pciAddress, 'doca_devinfo_get_pci_addr_str', info)
  const { interface: size } = TEXT_BYTES
  const netdev = await textOf(library, memory, size, 'doca_devinfo_get_iface_name', info, size)
  return { name, pciAddress, netdev }
}

function ibNameOf(library: DocaLibrary, memory: DocaMemory, info: bigint): Promise<string> {
  const { ibDevice: size } = TEXT_BYTES
  return textOf(library, memory, size, 'doca_devinfo_get_ibdev_name', info, size)
}

/** A text that ends with a NUL within its size; empty where the library does not tell it. */
async function textOf(
  library: DocaLibrary,
  memory: DocaMemory,
  bytes: number,
  symbol: DocaSymbol,
  info: bigint,
  ...size: number[]
): Promise<string> {
  const failure = await library.call('a device', symbol, info, memory.text, ...size)
  if (failure !== undefined) return ''
  const end = memory.text.subarray(0, bytes).indexOf(0)
  return memory.text.toString('latin1', 0, end < 0 ? bytes : end)
}
