import { userInfo } from 'node:os'
import { codeFault, shellWord } from '@sonde/sdk/internal'
import { readAs, readLine } from '../chains/attributes.ts'
import { broken, type ChainDevice, type Finding, fine, type SourceExplain, type Step } from '../chains/chain.ts'
import { type ChainContext, ReadRefusal } from '../chains/chain-context.ts'
import { planesBelow, planesOf } from '../chains/planes.ts'
import { bindCommand, bytesText, driverStep } from '../chains/steps.ts'
import { findRdmaDevices } from '../rdma/explain.ts'
import { parseCounter } from '../rdma/parse.ts'
import { findDocaLibrary } from './find-library.ts'
import { firmwareFinding } from './firmware.ts'
import { driverVersion, libraryVersion } from './versions.ts'

const NVIDIA_NETWORKING = '0x15b3'
const WORD_BYTES = 4

/**
 * Chains behind the values of all DOCA sources, one for each RDMA device of NVIDIA. They check only files. The source
 * itself, in the agent or in a trial, reports the answers of the library.
 */
export const docaExplain: SourceExplain = {
  steps: (context) => [
    { name: 'library', check: async () => findLibrary(context) },
    { name: 'file', check: () => findRdmaDevices(context) },
  ],
  async devices(context) {
    const names = await context.list(`${context.sysfs}/class/infiniband`)
    if (names instanceof ReadRefusal) return []
    const planes = await planesOf(context, names)
    const whole = names.filter((name) => !planes.has(name))
    return (await Promise.all(whole.map((name) => deviceOf(context, name, planesBelow(planes, name))))).flat()
  },
  deviceSteps(context, device) {
    const place = { context, device, folder: `${context.sysfs}/class/infiniband/${device}` }
    return [
      driverStep(context, `${place.folder}/device`, () => withoutDriver(place)),
      {
        name: 'driver version',
        check: async () => fine(`${place.folder}/device/driver`, await driverVersion(context)),
      },
      { name: 'device node', check: () => checkNodes(place) },
      { name: 'permission', check: () => checkPermission(place) },
      {
        name: 'firmware',
        check: async () => firmwareFinding(`${place.folder}/fw_ver`, await readLine(context, `${place.folder}/fw_ver`)),
      },
      { name: 'traffic', check: () => checkTraffic(place) },
    ] satisfies Step[]
  },
}

interface ExplainedDevice {
  readonly context: ChainContext
  readonly device: string
  readonly folder: string
}

function findLibrary({ doca_library: configured }: ChainContext): Finding {
  const found = findDocaLibrary(configured)
  const tried = configured === undefined || configured === '' ? 'libdoca_telemetry.so.2' : configured
  if (typeof found === 'string') {
    const [what, ...fix] = found.split(/(?<=.): (?=install)|; (?=install)/)
    return broken(tried, what ?? found, fix.join('') || 'install doca-sdk-telemetry')
  }
  for (const path of [found.telemetry, found.common]) {
    const [fault = '', fix = ''] = codeFault(path).split('; ')
    if (fault !== '') return broken(path, fault, fix)
  }
  return fine(found.telemetry, `DOCA ${libraryVersion(found.telemetry) ?? 'of an unknown version'}`)
}

/** Returns a device with all names that the option `devices` knows; none if another vendor made it. */
async function deviceOf(context: ChainContext, name: string, planes: readonly string[]): Promise<ChainDevice[]> {
  const folder = `${context.sysfs}/class/infiniband/${name}`
  if ((await readLine(context, `${folder}/device/vendor`)) !== NVIDIA_NETWORKING) return []
  const [address, netdevs, ports] = await Promise.all([
    context.target(`${folder}/device`),
    context.list(`${folder}/device/net`),
    context.list(`${folder}/ports`),
  ])
  const others = [
    ...(address instanceof ReadRefusal ? [] : [address]),
    ...(netdevs instanceof ReadRefusal ? [] : netdevs),
  ]
  const ids = ports instanceof ReadRefusal ? [] : ports.map((port) => `nic-${name}-${port}`)
  return [{ name, aliases: [...others, ...ids, ...planes], configurable: [name, ...others] }]
}

async function withoutDriver({ context, folder }: ExplainedDevice): Promise<Finding> {
  const address = await context.target(`${folder}/device`)
  const fix = address instanceof ReadRefusal ? undefined : await bindCommand(context, address)
  return broken(`${folder}/device/driver`, 'no driver is bound', fix ?? 'sudo modprobe mlx5_core')
}

/** Returns the device nodes through which the library reaches a device. */
async function nodesOf({
  context,
  folder,
}: ExplainedDevice): Promise<{ fwctl: readonly string[]; verbs: readonly string[] }> {
  const below = async (kind: string, node: string) => {
    const names = await context.list(`${folder}/device/${kind}`)
    return names instanceof ReadRefusal ? [] : names.map((name) => `${context.devfs}/${node}/${name}`)
  }
  return { fwctl: await below('fwctl', 'fwctl'), verbs: await below('infiniband_verbs', 'infiniband') }
}

async function checkNodes(place: ExplainedDevice): Promise<Finding> {
  const { context, folder, device } = place
  const { fwctl, verbs } = await nodesOf(place)
  const known = await context.list(`${context.sysfs}/class/fwctl`)
  if (fwctl.length === 0) {
    const tried = `${folder}/device/fwctl`
    if (known instanceof ReadRefusal)
      return broken(tried, 'the module mlx5_fwctl is not loaded', 'sudo modprobe mlx5_fwctl')
    const isVirtual = !((await context.target(`${folder}/device/physfn`)) instanceof ReadRefusal)
    const fix = isVirtual
      ? 'not possible: a virtual function has none; read its physical function'
      : 'look in dmesg for fwctl: the driver of this kernel, or the firmware, offers it none'
    return broken(tried, `${device} has no fwctl node`, fix)
  }
  if (verbs.length === 0)
    return broken(`${folder}/device/infiniband_verbs`, `${device} has no node of verbs`, 'sudo modprobe ib_uverbs')
  for (const node of [...fwctl, ...verbs]) {
    const found = await context.permits(node)
    if (found instanceof ReadRefusal && found.kind === 'missing')
      return broken(node, found.words, `mount ${node.split('/').slice(0, -1).join('/')} of the node into the container`)
  }
  return fine([...fwctl, ...verbs].join(' '), 'they are there')
}

async function checkPermission(place: ExplainedDevice): Promise<Finding> {
  const { fwctl, verbs } = await nodesOf(place)
  const nodes = [...fwctl, ...verbs]
  const answers = await Promise.all(nodes.map((node) => place.context.permits(node)))
  const denied = nodes.filter((_, at) => answers[at] instanceof ReadRefusal)
  const [first] = answers.filter((answer) => answer instanceof ReadRefusal)
  if (first === undefined) return fine(nodes.join(' '), 'this user may read and write')
  const command = `sudo setfacl -m u:${shellWord(userInfo().username)}:rw ${denied.map(shellWord).join(' ')}`
  return broken(
    denied.join(' '),
    `${first.words}: read and write permission is needed`,
    `${command}, or run Sonde as root`,
  )
}

/** Checks the bytes of all ports since the driver was loaded. */
async function checkTraffic({ context, folder }: ExplainedDevice): Promise<Finding> {
  const tried = `${folder}/ports/*/counters/port_{xmit,rcv}_data`
  const ports = await context.list(`${folder}/ports`)
  const files = (ports instanceof ReadRefusal ? [] : ports).flatMap((port) =>
    ['port_xmit_data', 'port_rcv_data'].map((name) => `${folder}/ports/${port}/counters/${name}`),
  )
  const counts = await Promise.all(
    files.map((path) => readAs(context, path, (bytes) => parseCounter(bytes, WORD_BYTES))),
  )
  const known = counts.filter((count) => typeof count === 'number' || typeof count === 'bigint')
  if (known.length === 0) return { state: 'unknown', tried, answer: 'no number' }
  const bytes = known.reduce((sum: bigint, count) => sum + BigInt(count), 0n)
  const fix = 'run ib_write_bw against another node: counters are 0 while nothing is sent'
  if (bytes === 0n) return broken(tried, 'no byte was ever received or sent', fix)
  return fine(tried, `${bytesText(bytes)} since the driver was loaded; counters move only while something is sent`)
}
