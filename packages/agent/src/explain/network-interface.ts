import { parseNetdev } from '../sources/netdev/parse.ts'
import { broken, type ChainDevice, type Finding, fine, type Step } from './chain.ts'
import { type Ground, Refusal } from './ground.ts'
import { bytesText, driverStep, fileStep, permissionStep } from './steps.ts'

/** Interfaces that sysfs lists. */
export async function interfaceDevices(ground: Ground): Promise<ChainDevice[]> {
  const names = await ground.list(`${ground.sysfs}/class/net`)
  if (names instanceof Refusal) return []
  return names.map((name) => ({ name, aliases: [`net-${name}`] }))
}

/** Links of one network interface, whoever reads it: `netdev` its counters, `ethtool` its driver. */
export function interfaceSteps(ground: Ground, device: string): Step[] {
  const folder = `${ground.sysfs}/class/net/${device}`
  return [
    fileStep(ground, folder, `ip link show ${device}: an interface of another network namespace is not listed`),
    driverStep(ground, `${folder}/device`, async () => {
      return fine(`${folder}/device`, 'a virtual interface: the kernel itself drives it')
    }),
    permissionStep(ground, `${folder}/operstate`),
    { name: 'link', look: () => lookAtLink(ground, folder, device) },
    { name: 'traffic', look: () => lookAtTraffic(ground, device) },
  ]
}

async function lookAtLink(ground: Ground, folder: string, device: string): Promise<Finding> {
  const carrier = await ground.read(`${folder}/carrier`)
  const operstate = await ground.read(`${folder}/operstate`)
  const state = operstate instanceof Refusal ? operstate.words : operstate
  // The kernel answers EINVAL for the carrier of an interface that is switched off.
  if (carrier instanceof Refusal && carrier.kind === 'unsupported')
    return broken(`${folder}/carrier`, `the interface is switched off (${state})`, `sudo ip link set ${device} up`)
  if (state === 'lowerlayerdown')
    return broken(`${folder}/operstate`, state, `the interface below ${device} is down: ip -d link show ${device}`)
  if (carrier === '0')
    return broken(`${folder}/carrier`, `no carrier (${state})`, 'plug the cable in, or switch the other end on')
  if (state === 'down') return broken(`${folder}/operstate`, state, `sudo ip link set ${device} up`)
  return fine(`${folder}/operstate`, state)
}

async function lookAtTraffic(ground: Ground, device: string): Promise<Finding> {
  const path = `${ground.procfs}/net/dev`
  const text = await ground.read(path)
  if (text instanceof Refusal) return broken(path, text.words, 'see the link of the file')
  const record = parseNetdev(Buffer.from(`${text}\n`), 0n).records.find((each) => each.device === device)
  if (record === undefined)
    return broken(
      path,
      `no line of ${device}`,
      `procfs and sysfs show different network namespaces: mount those of one`,
    )
  const received = Number(record.rx_bytes_total)
  const sent = Number(record.tx_bytes_total)
  if (received + sent === 0)
    return broken(
      path,
      'no byte was ever received or sent',
      `send something over ${device}: every counter is 0 until then`,
    )
  return fine(path, `${bytesText(received)} received, ${bytesText(sent)} sent`)
}
