import { readAs, readLine } from '../../sources/chains/attributes.ts'
import { type ChainContext, ReadRefusal } from '../../sources/chains/chain-context.ts'
import { isNumber, parseAttribute } from '../../sources/kernel-text.ts'
import { modelName } from '../../sources/pci/names.ts'
import { parseSpeed, parseWidth } from '../../sources/pci/parse.ts'
import { parseCounter, parseRate, parseState, type RdmaRate } from '../../sources/rdma/parse.ts'

/** Size of a word in `port_rcv_data` and `port_xmit_data`. Unit: bytes. */
const WORD_BYTES = 4n
const STATE_ACTIVE = 4
/** Transfers per second of a lane, by PCIe generation from 1. */
const GENERATIONS = [2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9]

/** What the kernel reports about a device. A value is undefined if the kernel does not report it. */
export interface TestedDevice {
  /** Part, such as `ConnectX-7`; `unknown` if its number is not listed. */
  readonly model: string
  readonly firmware: string
  readonly isUp: boolean | undefined
  readonly rate: RdmaRate | undefined
  readonly pcieGeneration: number | undefined
  readonly pcieLanes: number | undefined
  /** Reads the bits of the kernel taint. */
  taintBits(): Promise<bigint | undefined>
  /** Reads a counter of the RDMA driver, such as `link_error_recovery`. */
  counter(name: string): Promise<bigint | undefined>
  /** Reads the bytes that the port has received and sent. */
  trafficBytes(): Promise<bigint | undefined>
}

/** Reads what the kernel reports about an RDMA device. */
export async function readDeviceFacts(context: ChainContext, device: string): Promise<TestedDevice> {
  const folder = `${context.sysfs}/class/infiniband/${device}`
  const read = async <T>(path: string, parse: (bytes: Uint8Array) => T | undefined) =>
    known(await readAs(context, `${folder}/${path}`, parse))
  const line = async (path: string) => known(await readLine(context, `${folder}/${path}`)) ?? ''
  const counter = async (name: string) => {
    const found = await read(`ports/1/counters/${name}`, (bytes) => parseCounter(bytes, 1))
    return found === undefined || !isNumber(found) ? undefined : BigInt(found)
  }
  const [state, speed] = [await read('ports/1/state', parseState), await read('device/current_link_speed', parseSpeed)]
  const ids = [await line('device/vendor'), await line('device/device')].map((id) => id.replace(/^0x/, ''))
  return {
    taintBits: () => taintBits(context),
    model: modelName(ids[0] ?? '', ids[1] ?? '') || 'unknown',
    firmware: (await line('fw_ver')) || 'unknown',
    isUp: state === undefined ? undefined : state === STATE_ACTIVE,
    rate: await read('ports/1/rate', parseRate),
    pcieGeneration: GENERATIONS.indexOf(Number(speed)) + 1 || undefined,
    pcieLanes: await read('device/current_link_width', parseWidth),
    counter,
    async trafficBytes() {
      const [received, sent] = [await counter('port_rcv_data'), await counter('port_xmit_data')]
      return received === undefined || sent === undefined ? undefined : (received + sent) * WORD_BYTES
    },
  }
}

/** Reads the bits of the kernel taint; undefined if the kernel does not report them. */
export async function taintBits(context: ChainContext): Promise<bigint | undefined> {
  const bits = known(await readAs(context, `${context.procfs}/sys/kernel/tainted`, parseAttribute))
  return bits === undefined || !isNumber(bits) ? undefined : BigInt(bits)
}

function known<T>(found: T | ReadRefusal): T | undefined {
  return found instanceof ReadRefusal ? undefined : found
}
