import { countOf, shellWord } from '@sonde/sdk/internal'
import {
  type AttributeCheck,
  failedIn,
  foundAt,
  permissionStep,
  readAs,
  readLine,
  refusedIn,
  surveyOf,
  valueText,
} from '../chains/attributes.ts'
import {
  broken,
  type ChainDevice,
  type ExplainedValue,
  type Finding,
  fine,
  type SourceExplain,
  type Step,
} from '../chains/chain.ts'
import { type ChainContext, ReadRefusal } from '../chains/chain-context.ts'
import { planesBelow, planesOf } from '../chains/planes.ts'
import { bindCommand, bytesText, driverStep, fileStep, pciBusFolder } from '../chains/steps.ts'
import { planesText } from '../rdma-planes.ts'
import { checkCost } from './explain-cost.ts'
import { type PortFiles, portFilesOf } from './explain-files.ts'
import { parseState } from './parse.ts'

const NVIDIA_NETWORKING = '0x15b3'
/** Counters of mlx5 that are off by default. */
const OPTIONAL = /^(cc_(rx_ce|rx_cnp|tx_cnp)_pkts|rdma_[rt]x_(packets|bytes))$/
const REFUSED_NAMED = 3
const ACTIVE = 4
const INITIALISING = 2
const DISABLED = 3

/** Chains behind the values of `rdma`, one for each port, such as `mlx5_0/1`. */
export const rdmaExplain: SourceExplain = {
  steps: (context) => [{ name: 'file', check: () => findRdmaDevices(context) }],
  async devices(context) {
    const folder = `${context.sysfs}/class/infiniband`
    const devices = await context.list(folder)
    if (devices instanceof ReadRefusal) return []
    const planes = await planesOf(context, devices)
    const whole = devices.filter((device) => !planes.has(device))
    const ports = await Promise.all(
      whole.map((device) => portsOf(context, folder, device, planesBelow(planes, device))),
    )
    return ports.flat()
  },
  deviceSteps: (context, place, value) => {
    const [device = '', port = ''] = place.split('/')
    const folder = `${context.sysfs}/class/infiniband/${device}`
    const files = portFilesOf(`${folder}/ports/${port}`, folder, value)
    const survey = surveyOf(context, () => files.list(context))
    const wanted = { device, port, folder, files }
    const traffic = surveyOf(context, async () => files.traffic.flat())
    return [
      { name: 'file', check: () => findCounters(context, wanted) },
      driverStep(context, `${folder}/device`, async () => {
        return fine(`${folder}/device`, 'no bus device below: the kernel itself drives it')
      }),
      permissionStep(survey, `${folder}/ports/${port}`),
      { name: 'counters', check: async () => checkCounters(await survey(), wanted, value) },
      { name: 'cost', check: () => checkCost(context, survey, folder) },
      { name: 'link', check: () => checkLink(context, wanted) },
      { name: 'traffic', check: async () => checkTraffic(await traffic(), wanted) },
    ] satisfies Step[]
  },
}

/** Drivers without the InfiniBand counters, such as efa and irdma, have only a folder of their own. */
async function findCounters(context: ChainContext, { folder, port, device }: Port): Promise<Finding> {
  const place = `${folder}/ports/${port}`
  const fix = `look in dmesg why the driver of ${device} gives this port no counters`
  const [found, own] = await Promise.all(
    ['counters', 'hw_counters'].map((name) => fileStep(context, `${place}/${name}`, fix).check()),
  )
  const finding = found?.state === 'broken' && own?.state === 'ok' ? own : (found as Finding)
  return finding.state === 'ok' ? withPlanes(context, finding, device) : finding
}

/** Adds the planes of the port, which are not read as ports. */
async function withPlanes(context: ChainContext, finding: Finding, device: string): Promise<Finding> {
  const devices = await context.list(`${context.sysfs}/class/infiniband`)
  const planes = devices instanceof ReadRefusal ? [] : planesBelow(await planesOf(context, devices), device)
  if (planes.length === 0) return finding
  return { ...finding, answer: `${finding.answer}; ${planesText(planes, device)}` }
}

interface Port {
  readonly device: string
  readonly port: string
  readonly folder: string
  readonly files: PortFiles
}

/** Lists the ports of a device. A port is also found by the names of its planes. */
async function portsOf(
  context: ChainContext,
  folder: string,
  device: string,
  planes: readonly string[],
): Promise<ChainDevice[]> {
  const ports = await context.list(`${folder}/${device}/ports`)
  const netdevs = await context.list(`${folder}/${device}/device/net`)
  const numbers = ports instanceof ReadRefusal ? ['1'] : ports
  const shared = [device, ...planes, ...(netdevs instanceof ReadRefusal ? [] : netdevs)]
  return numbers.map((port) => ({ name: `${device}/${port}`, aliases: [`nic-${device}-${port}`, ...shared] }))
}

/** Lists the RDMA devices of the kernel. If there are none, finds the missing module by the adapters on the PCI bus. */
export async function findRdmaDevices(context: ChainContext): Promise<Finding> {
  const folder = `${context.sysfs}/class/infiniband`
  const devices = await context.list(folder)
  if (!(devices instanceof ReadRefusal) && devices.length > 0) return fine(folder, devices.join(' '))
  const answer = devices instanceof ReadRefusal ? devices.words : 'no device'
  const roots = await context.list(context.sysfs)
  if (roots instanceof ReadRefusal || roots.length === 0)
    return broken(context.sysfs, 'nothing is there', 'pass the mount point of sysfs with --path.sysfs')
  const adapters = await adaptersOf(context)
  const [unbound] = adapters.filter(({ driver }) => driver === '')
  if (unbound !== undefined) {
    const bind = (await bindCommand(context, unbound.address)) ?? `load a driver for ${unbound.address}`
    const fix = bind.startsWith('sudo modprobe') ? `${bind} mlx5_ib` : bind
    return broken(folder, `${answer}; adapter ${unbound.address} has no driver`, fix)
  }
  if (adapters.length > 0)
    return broken(folder, `${answer}; mlx5_core drives ${countOf(adapters.length, 'adapter')}`, 'sudo modprobe mlx5_ib')
  const hasCore = !((await context.list(`${context.sysfs}/module/ib_core`)) instanceof ReadRefusal)
  const words = hasCore ? 'ib_core is loaded, but no driver has found an adapter' : 'no module of RDMA is loaded'
  const fix =
    'load the module of your adapter, such as mlx5_ib or irdma; without an adapter, set enabled: false for this source'
  return broken(folder, `${answer}; ${words}`, fix)
}

async function adaptersOf(context: ChainContext): Promise<{ address: string; driver: string }[]> {
  const bus = pciBusFolder(context)
  const addresses = await context.list(bus)
  if (addresses instanceof ReadRefusal) return []
  const found = await Promise.all(
    addresses.map(async (address) => {
      const vendor = await readLine(context, `${bus}/${address}/vendor`)
      const kind = await readLine(context, `${bus}/${address}/class`)
      // Class 0x02 is a network adapter; NVIDIA makes bridges too.
      if (vendor !== NVIDIA_NETWORKING || typeof kind !== 'string' || !kind.startsWith('0x02')) return []
      const driver = await context.target(`${bus}/${address}/driver`)
      return [{ address, driver: driver instanceof ReadRefusal ? '' : driver }]
    }),
  )
  return found.flat()
}

/** Checks the files of the wanted value, or of all values. */
function checkCounters(checks: readonly AttributeCheck[], place: Port, value: ExplainedValue | undefined): Finding {
  const { device, port, files } = place
  const missing = checks.find(({ isFolder }) => isFolder)
  if (missing !== undefined && value !== undefined)
    return broken(
      missing.path,
      String(valueText(missing.found)),
      missing.path.endsWith('/hw_counters')
        ? 'not possible: this driver has no hardware counters of its own'
        : `use rdma_driver_statistic of ${device}: this driver has counters of its own names alone`,
    )
  const failed = failedIn(checks)
  if (failed !== undefined) return failed
  return value === undefined ? checkAll(checks, place) : checkValue(checks, `${device}/${port}`, files)
}

function checkValue(checks: readonly AttributeCheck[], port: string, { folder }: PortFiles): Finding {
  const [first] = checks
  if (first === undefined) return fine(folder, 'no counter: it is computed from other values')
  const { path, found } = first
  if (!(found instanceof ReadRefusal)) return fine(path, valueText(found))
  if (found.kind !== 'missing') return broken(path, found.words, refusalFix(found))
  const name = path.split('/').at(-1) ?? ''
  if (!OPTIONAL.test(name)) return broken(path, 'not there', 'update driver and firmware; these do not have it')
  const command = `sudo rdma statistic set link ${shellWord(port)} optional-counters ${shellWord(name)}`
  return broken(path, 'not there: this counter is off by default', command)
}

function checkAll(checks: readonly AttributeCheck[], { files }: Port): Finding {
  const counters = checks.filter(({ path }) => path.includes('counters/'))
  const refused = refusedIn(counters, 'unsupported')
  // The traffic counters matter most. A virtual function has few of the other counters, so a few refusals are normal.
  const leading =
    refused.find(({ path }) => path === files.traffic[0][0]?.path) ??
    (refused.length === counters.length ? refused[0] : undefined)
  if (leading !== undefined) return broken(leading.path, leading.found.words, refusalFix(leading.found))
  const names = refused.slice(0, REFUSED_NAMED).map(({ path }) => path.split('/').at(-1))
  const more = refused.length > names.length ? ` and ${refused.length - names.length} more` : ''
  const beside = refused.length === 0 ? '' : `, the driver refuses ${names.join(', ')}${more}`
  return fine(files.folder, `${countOf(counters.length, 'counter')}${beside}`)
}

function refusalFix({ code }: ReadRefusal): string {
  if (code === 'content') return 'not possible: the firmware or hypervisor hides the performance management of the port'
  return 'not possible: this driver does not support the counter for this port; a virtual function has few'
}

async function checkLink(context: ChainContext, { folder, port, device }: Port): Promise<Finding> {
  const place = `${folder}/ports/${port}`
  const path = `${place}/state`
  const [state, line] = await Promise.all([readAs(context, path, parseState), readLine(context, path)])
  // A refused state is a fault of the value `state` alone; it says nothing about a counter.
  if (state instanceof ReadRefusal || line instanceof ReadRefusal)
    return { state: 'unknown', tried: path, answer: valueText(state) }
  if (state === ACTIVE) return fine(path, line)
  const physical = await readAs(context, `${place}/phys_state`, parseState)
  const [layer, physicalLine] = await Promise.all(
    ['link_layer', 'phys_state'].map((name) => readLine(context, `${place}/${name}`)),
  )
  const answer = `${line}, ${valueText(physicalLine)}`
  if (physical === DISABLED) {
    const netdevs = await context.list(`${folder}/device/net`)
    const [netdev] = netdevs instanceof ReadRefusal ? [] : netdevs
    return broken(
      path,
      answer,
      `sudo ip link set ${netdev === undefined ? `the interface of ${device}` : shellWord(netdev)} up`,
    )
  }
  if (state === INITIALISING && layer === 'InfiniBand')
    return broken(
      path,
      answer,
      'no subnet manager answers: start opensm on one host, or check the subnet manager of the fabric',
    )
  return broken(path, answer, 'plug the cable in, or switch the other end on')
}

function checkTraffic(checks: readonly AttributeCheck[], { files: { folder, traffic } }: Port): Finding {
  const [sent, received] = traffic.map((places) => {
    const found = places.map(({ path }) => foundAt(checks, path) as number | bigint | undefined)
    return found.find((bytes) => bytes !== undefined)
  })
  const path = `${folder}/counters/port_{xmit,rcv}_data`
  if (sent === undefined && received === undefined) return { state: 'unknown', tried: path, answer: 'no number' }
  if (Number(sent ?? 0) + Number(received ?? 0) === 0)
    return broken(path, 'no byte was ever received or sent', 'send something over RDMA: counters are 0 until then')
  const text = (bytes: number | bigint | undefined) => (bytes === undefined ? 'nothing known' : bytesText(bytes))
  return fine(path, `${text(received)} received, ${text(sent)} sent`)
}
