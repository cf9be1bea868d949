import { shellWord } from '@sonde/sdk/internal'
import { type NetdevRecord, parseCarrier, parseNetdev, parseOperstate } from '../netdev/parse.ts'
import { readAs, readLine } from './attributes.ts'
import { broken, type ChainDevice, type Finding, fine, type Step } from './chain.ts'
import { type ChainContext, ReadRefusal } from './chain-context.ts'
import { bytesText, driverStep, fileStep } from './steps.ts'

/** Lists the interfaces in sysfs. */
export async function interfaceDevices(context: ChainContext): Promise<ChainDevice[]> {
  const names = await context.list(`${context.sysfs}/class/net`)
  if (names instanceof ReadRefusal) return []
  return names.map((name) => ({ name, aliases: [`net-${name}`] }))
}

/**
 * Returns the links of a network interface, for `netdev` and `ethtool`. `own` are links of the source itself, between
 * driver and link.
 */
export function interfaceSteps(context: ChainContext, device: string, own: readonly Step[] = []): Step[] {
  const folder = `${context.sysfs}/class/net/${device}`
  return [
    fileStep(
      context,
      folder,
      `ip link show ${shellWord(device)}; if it is in another network namespace, run Sonde there`,
    ),
    driverStep(context, `${folder}/device`, async () => {
      return fine(`${folder}/device`, 'a virtual interface: the kernel itself drives it')
    }),
    ...own,
    { name: 'link', check: () => checkLink(context, folder, device) },
    { name: 'traffic', check: () => checkTraffic(context, device) },
  ]
}

async function checkLink(context: ChainContext, folder: string, device: string): Promise<Finding> {
  const [carrier, state, line] = await Promise.all([
    readAs(context, `${folder}/carrier`, parseCarrier),
    readAs(context, `${folder}/operstate`, parseOperstate),
    readLine(context, `${folder}/operstate`),
  ])
  const words = line instanceof ReadRefusal ? line.words : line
  // The kernel answers EINVAL for the carrier of an interface that is switched off.
  if (carrier instanceof ReadRefusal && carrier.kind === 'unsupported')
    return broken(
      `${folder}/carrier`,
      `the interface is switched off (${words})`,
      `sudo ip link set ${shellWord(device)} up`,
    )
  if (state === 'lowerlayerdown')
    return broken(
      `${folder}/operstate`,
      `${state}: the interface below ${device} is down`,
      `ip -d link show ${shellWord(device)}; then set the interface below it up`,
    )
  if (carrier === 0)
    return broken(`${folder}/carrier`, `no carrier (${words})`, 'plug the cable in, or switch the other end on')
  if (state === 'down') return broken(`${folder}/operstate`, state, `sudo ip link set ${shellWord(device)} up`)
  // Unreadable values are reported by the links of the source that reads them.
  if (state instanceof ReadRefusal) return { state: 'unknown', tried: `${folder}/operstate`, answer: state.words }
  return fine(`${folder}/operstate`, state)
}

/** Returns the line of an interface in `/proc/net/dev`, or why there is none. */
export async function netdevLine(context: ChainContext, device: string): Promise<NetdevRecord | Finding> {
  const path = `${context.procfs}/net/dev`
  const table = await readAs(context, path, (bytes) => parseNetdev(bytes, 0n))
  if (table instanceof ReadRefusal) return broken(path, table.words, `check the mount at ${context.procfs}`)
  const record = table.records.find((each) => each.device === device)
  if (record !== undefined) return record
  if (table.malformed?.startsWith(`${device}:`) === true)
    return broken(
      path,
      `a line that no kernel writes: ${JSON.stringify(table.malformed)}`,
      `check the mount at ${context.procfs}`,
    )
  const fix = 'mount procfs and sysfs of the same network namespace; now they show two'
  return broken(path, `no line of ${device}`, fix)
}

async function checkTraffic(context: ChainContext, device: string): Promise<Finding> {
  const path = `${context.procfs}/net/dev`
  const line = await netdevLine(context, device)
  if ('tried' in line) return line
  const { rx_bytes_total: received, tx_bytes_total: sent } = line
  if (Number(received) + Number(sent) === 0)
    return broken(
      path,
      'no byte was ever received or sent',
      `send something over ${device}: every counter is 0 until then`,
    )
  return fine(path, `${bytesText(received)} received, ${bytesText(sent)} sent`)
}
