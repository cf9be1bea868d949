import { CallFailure } from './call-failure.ts'
import {
  COMMANDS,
  DRVINFO,
  ETH_SS_STATS,
  type EthtoolCall,
  GSTRINGS,
  IFREQ,
  LINK_SETTINGS,
  SIOCETHTOOL,
  SSET_INFO,
  STATS,
  VALUE,
} from './ethtool-layout.ts'
import { type Libc, openLibc } from './libc.ts'
import { socketIn } from './net-namespace.ts'

/**
 * Statistics of one device at most; a driver that tells of more is refused. With 128 queues an mlx5 has about 30 000.
 */
export const STATISTICS_LIMIT = 65_536

/** Where the command's structure begins, behind `struct ifreq` and room to spare. Unit: bytes. */
const COMMAND_AT = 64
/** A kernel or driver newer than these layouts may write more than is known. Unit: bytes. */
const SPARE_BYTES = 4096
const MEMORY_BYTES = COMMAND_AT + GSTRINGS.strings + STATISTICS_LIMIT * GSTRINGS.stringBytes + SPARE_BYTES
/** Words of a mask of link modes at most; Linux 6.18 has four. */
const MASK_WORDS_LIMIT = 32
/** How often a driver may change its statistics while they are read, before that counts as a failure. */
const ATTEMPTS = 3

/** Who drives a device. Empty if the driver does not tell. */
export interface DriverInfo {
  readonly driver: string
  readonly version: string
  readonly firmware: string
  /** Address on its bus. */
  readonly busInfo: string
}

/** Settings of a link, as the kernel numbers them. */
export interface LinkSettings {
  /** Unit: Mbit/s. 0 or 4 294 967 295 where it is not known. */
  readonly speedMbit: number
  readonly duplex: number
  readonly port: number
  readonly autonegotiation: number
  /** Bits of the link modes. Unit of an element: 32 bits. */
  readonly supported: readonly number[]
  readonly advertised: readonly number[]
  readonly partnerAdvertised: readonly number[]
}

/** The statistics of a device. The object is reused while the names stay the same. */
export interface StatisticSet {
  readonly count: number
  /** The names, 32 bytes each, NUL padded. */
  readonly names: Buffer
  /** Two words each, the low one first. */
  readonly values: Uint32Array
}

/**
 * Asks network drivers through one socket that is kept. Calls run on the thread pool: one that hangs keeps its thread
 * and its memory, and harms no other. At most one call at a time a device.
 */
export class EthtoolSocket {
  readonly #libc: Libc
  readonly #descriptor: number
  /**
   * Memory of calls that ended. As many pieces as calls were ever open at a time; untouched pages of one take no room.
   */
  readonly #spare: Buffer[] = []
  #openCalls = 0
  #closed = false

  /**
   * @param library See {@link openLibc}.
   * @param descriptor An open socket. Default: a new socket in the network namespace of this process.
   * @throws SondeError `SRC_LIBRARY`, and `SRC_CALL` if no socket is to be had.
   */
  constructor(library?: string | null, descriptor?: number) {
    this.#libc = openLibc(library)
    this.#descriptor = descriptor ?? this.#libc.openSocket()
  }

  /**
   * A socket in another network namespace: see {@link socketIn}.
   *
   * @throws SondeError `SRC_CALL` if the namespace cannot be entered.
   */
  static inside(path: string): EthtoolSocket {
    return new EthtoolSocket(null, socketIn(path))
  }

  /**
   * Closes the socket, once the calls that are open have ended: its number must not become another file's while one
   * uses it. Later ones fail. May be called twice.
   */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    if (this.#openCalls === 0) this.#libc.close(this.#descriptor)
  }

  /** Who drives the device. */
  driver(device: string): Promise<DriverInfo | CallFailure> {
    return this.#with(device, async (memory) => {
      const failure = await this.#call(memory, 'ETHTOOL_GDRVINFO', DRVINFO.size)
      if (failure !== undefined) return failure
      const textAt = ({ at, bytes }: { at: number; bytes: number }) => textIn(memory.structure, at, bytes)
      const { driver, version, firmware, busInfo } = DRVINFO
      return {
        driver: textAt(driver),
        version: textAt(version),
        firmware: textAt(firmware),
        busInfo: textAt(busInfo),
      }
    })
  }

  /** Whether the driver sees a link. */
  linkDetected(device: string): Promise<boolean | CallFailure> {
    return this.#with(device, async (memory) => {
      const failure = await this.#call(memory, 'ETHTOOL_GLINK', VALUE.size)
      return failure ?? memory.structure.readUInt32LE(VALUE.data) !== 0
    })
  }

  /**
   * Speed, duplex, port and modes of the link. The first call asks how long the masks are, which the kernel answers as
   * a negative number.
   */
  linkSettings(device: string): Promise<LinkSettings | CallFailure> {
    return this.#with(device, async (memory) => {
      const { structure } = memory
      const asked = await this.#call(memory, 'ETHTOOL_GLINKSETTINGS', LINK_SETTINGS.masks)
      if (asked !== undefined) return asked
      const words = -structure.readInt8(LINK_SETTINGS.maskWords)
      if (words <= 0 || words > MASK_WORDS_LIMIT) return memory.nonsense(`masks of ${words} words`)
      const size = LINK_SETTINGS.masks + LINK_SETTINGS.maskCount * words * 4
      const answered = await this.#call(memory, 'ETHTOOL_GLINKSETTINGS', size, () => {
        structure.writeInt8(words, LINK_SETTINGS.maskWords)
      })
      if (answered !== undefined) return answered
      if (structure.readInt8(LINK_SETTINGS.maskWords) !== words) return memory.nonsense('masks of another length')
      return settingsIn(structure, words)
    })
  }

  /**
   * Names and values of the statistics. A driver may change them at any time, for example with its queues. So names and
   * values are read until their counts agree.
   *
   * @param known The result of the last call, which is reused with new values if the names are unchanged.
   */
  statistics(device: string, known?: StatisticSet): Promise<StatisticSet | CallFailure> {
    return this.#with(device, async (memory) => {
      let expected = known?.count ?? 0
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (attempt > 0 || expected === 0) {
          const count = await this.#count(memory)
          if (count instanceof CallFailure) return count
          expected = count
        }
        if (expected === 0) return { count: 0, names: Buffer.alloc(0), values: new Uint32Array(0) }
        const set = await this.#read(memory, expected, known)
        if (set !== undefined) return set
      }
      return memory.nonsense(`another number of statistics at each of ${ATTEMPTS} attempts`)
    })
  }

  async #count(memory: Memory): Promise<number | CallFailure> {
    const { structure } = memory
    const failure = await this.#call(memory, 'ETHTOOL_GSSET_INFO', SSET_INFO.size, () => {
      structure.writeBigUInt64LE(1n << BigInt(ETH_SS_STATS), SSET_INFO.mask)
    })
    if (failure !== undefined) return failure
    // The kernel takes the bits of sets away that the driver does not have.
    if (structure.readBigUInt64LE(SSET_INFO.mask) === 0n)
      return new CallFailure(memory.device, memory.call, 'EOPNOTSUPP')
    const count = structure.readUInt32LE(SSET_INFO.counts)
    return count > STATISTICS_LIMIT ? memory.nonsense(`${count} statistics, more than ${STATISTICS_LIMIT}`) : count
  }

  /**
   * Undefined if the number is not the one expected. Newer kernels (6.19, and 5.15.198, 6.18.3 and their like) then
   * give nothing, older ones write all there are: the memory holds the most that is ever asked for.
   */
  async #read(memory: Memory, count: number, known: StatisticSet | undefined) {
    const { structure } = memory
    const namesEnd = GSTRINGS.strings + count * GSTRINGS.stringBytes
    const noNames = await this.#call(memory, 'ETHTOOL_GSTRINGS', namesEnd, () => {
      structure.writeUInt32LE(ETH_SS_STATS, GSTRINGS.stringSet)
      structure.writeUInt32LE(count, GSTRINGS.count)
    })
    if (noNames !== undefined) return noNames
    if (structure.readUInt32LE(GSTRINGS.count) !== count) return undefined
    const names = structure.subarray(GSTRINGS.strings, namesEnd)
    const set = known?.names.equals(names) ? known : newSet(count, names)
    const valuesEnd = STATS.values + count * STATS.valueBytes
    const noValues = await this.#call(memory, 'ETHTOOL_GSTATS', valuesEnd, () => {
      structure.writeUInt32LE(count, STATS.count)
    })
    if (noValues !== undefined) return noValues
    if (structure.readUInt32LE(STATS.count) !== count) return undefined
    const first = (COMMAND_AT + STATS.values) / Uint32Array.BYTES_PER_ELEMENT
    set.values.set(memory.words.subarray(first, first + set.values.length))
    return set
  }

  async #with<T>(device: string, talk: (memory: Memory) => Promise<T>): Promise<T | CallFailure> {
    if (this.#closed) return new CallFailure(device, 'the closed socket', 'EBADF')
    const buffer = this.#spare.pop() ?? Buffer.alloc(MEMORY_BYTES)
    this.#openCalls++
    try {
      return await talk(new Memory(device, buffer, this.#libc.addressOf(buffer)))
    } finally {
      this.#spare.push(buffer)
      if (--this.#openCalls === 0 && this.#closed) this.#libc.close(this.#descriptor)
    }
  }

  async #call(memory: Memory, call: EthtoolCall, bytes: number, fill?: () => void): Promise<CallFailure | undefined> {
    memory.call = call
    memory.structure.fill(0, 0, bytes + SPARE_BYTES)
    memory.structure.writeUInt32LE(COMMANDS[call])
    fill?.()
    if (this.#closed) return new CallFailure(memory.device, call, 'EBADF')
    const code = await this.#libc.ioctl(this.#descriptor, SIOCETHTOOL, memory.buffer)
    return code === '' ? undefined : new CallFailure(memory.device, call, code)
  }
}

/** The memory that a call shares with the kernel: `struct ifreq`, and the command structure that it points to. */
class Memory {
  readonly device: string
  readonly buffer: Buffer
  readonly structure: Buffer
  readonly words: Uint32Array
  /** The call that was made last, for messages. */
  call = ''

  constructor(device: string, buffer: Buffer, address: bigint) {
    this.device = device
    this.buffer = buffer
    this.structure = buffer.subarray(COMMAND_AT)
    this.words = new Uint32Array(buffer.buffer, buffer.byteOffset, buffer.byteLength >> 2)
    buffer.fill(0, 0, COMMAND_AT)
    buffer.write(device, IFREQ.name, IFREQ.nameBytes - 1, 'utf8')
    buffer.writeBigUInt64LE(address + BigInt(COMMAND_AT), IFREQ.data)
  }

  /** The driver's answer makes no sense. */
  nonsense(what: string): CallFailure {
    return new CallFailure(this.device, this.call, what)
  }
}

function newSet(count: number, names: Buffer): StatisticSet {
  return { count, names: Buffer.from(names), values: new Uint32Array(count * 2) }
}

function settingsIn(structure: Buffer, words: number): LinkSettings {
  const mask = (index: number) =>
    Array.from({ length: words }, (_, word) => structure.readUInt32LE(LINK_SETTINGS.masks + (index * words + word) * 4))
  return {
    speedMbit: structure.readUInt32LE(LINK_SETTINGS.speed),
    duplex: structure.readUInt8(LINK_SETTINGS.duplex),
    port: structure.readUInt8(LINK_SETTINGS.port),
    autonegotiation: structure.readUInt8(LINK_SETTINGS.autonegotiation),
    supported: mask(0),
    advertised: mask(1),
    partnerAdvertised: mask(2),
  }
}

/** Text up to the NUL, or to the end where there is none. */
function textIn(structure: Buffer, at: number, bytes: number): string {
  const nul = structure.indexOf(0, at)
  return structure.toString('utf8', at, nul === -1 ? at + bytes : Math.min(nul, at + bytes)).trim()
}
