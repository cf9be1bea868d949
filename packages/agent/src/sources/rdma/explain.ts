import {
  broken,
  type ChainDevice,
  type Finding,
  fine,
  type SourceExplain,
  type Step,
  type ValuePlace,
} from '../../explain/chain.ts'
import { type Ground, Refusal } from '../../explain/ground.ts'
import { bytesText, driverStep, fileStep, permissionStep, readNumber } from '../../explain/steps.ts'
import { type CounterForm, HW_COUNTERS, PORT_COUNTERS } from './names.ts'

const NVIDIA_NETWORKING = '0x15b3'
/** Counters that mlx5 has, and keeps switched off. */
const OPTIONAL = /^(cc_(rx_ce|rx_cnp|tx_cnp)_pkts|rdma_[rt]x_(packets|bytes))$/
const WORD_BYTES = 4

/** Chains behind the values of `rdma`: one a port, `mlx5_0/1`. */
export const rdmaExplain: SourceExplain = {
  steps: (ground) => [{ name: 'file', look: () => lookForDevices(ground) }],
  async devices(ground) {
    const folder = `${ground.sysfs}/class/infiniband`
    const devices = await ground.list(folder)
    if (devices instanceof Refusal) return []
    const ports = await Promise.all(devices.map((device) => portsOf(ground, folder, device)))
    return ports.flat()
  },
  deviceSteps: (ground, place, value) => {
    const [device = '', port = ''] = place.split('/')
    const folder = `${ground.sysfs}/class/infiniband/${device}`
    const counters = `${folder}/ports/${port}/counters`
    return [
      fileStep(ground, counters, `dmesg | grep ${device}: the driver gives this port no counters`),
      driverStep(ground, `${folder}/device`, async () => {
        return fine(`${folder}/device`, 'no bus device below: the kernel itself drives it')
      }),
      permissionStep(ground, `${counters}/port_xmit_data`),
      { name: 'counters', look: () => lookAtCounter(ground, { device, port, folder }, value) },
      { name: 'link', look: () => lookAtLink(ground, { device, port, folder }) },
      { name: 'traffic', look: () => lookAtTraffic(ground, counters) },
    ] satisfies Step[]
  },
}

interface Port {
  readonly device: string
  readonly port: string
  readonly folder: string
}

async function portsOf(ground: Ground, folder: string, device: string): Promise<ChainDevice[]> {
  const ports = await ground.list(`${folder}/${device}/ports`)
  const netdevs = await ground.list(`${folder}/${device}/device/net`)
  const numbers = ports instanceof Refusal ? ['1'] : ports
  const shared = [device, ...(netdevs instanceof Refusal ? [] : netdevs)]
  return numbers.map((port) => ({ name: `${device}/${port}`, aliases: [`nic-${device}-${port}`, ...shared] }))
}

/** Without devices: which module is missing, by what the PCI bus has. */
async function lookForDevices(ground: Ground): Promise<Finding> {
  const folder = `${ground.sysfs}/class/infiniband`
  const devices = await ground.list(folder)
  if (!(devices instanceof Refusal) && devices.length > 0) return fine(folder, devices.join(' '))
  const answer = devices instanceof Refusal ? devices.words : 'no device'
  const roots = await ground.list(ground.sysfs)
  if (roots instanceof Refusal || roots.length === 0)
    return broken(ground.sysfs, 'nothing is there', 'give the place where sysfs is mounted with --path.sysfs')
  const adapters = await adaptersOf(ground)
  const [unbound] = adapters.filter(({ driver }) => driver === '')
  if (unbound !== undefined)
    return broken(folder, `${answer}; adapter ${unbound.address} has no driver`, 'sudo modprobe mlx5_core mlx5_ib')
  if (adapters.length > 0)
    return broken(folder, `${answer}; ${adapters.length} adapters are driven by mlx5_core`, 'sudo modprobe mlx5_ib')
  const hasCore = !((await ground.list(`${ground.sysfs}/module/ib_core`)) instanceof Refusal)
  const words = hasCore ? 'ib_core is loaded, but no driver has found an adapter' : 'no module of RDMA is loaded'
  const mends = 'load the module of your adapter, such as mlx5_ib or irdma; without one set enabled: false for rdma'
  return broken(folder, `${answer}; ${words}`, mends)
}

async function adaptersOf(ground: Ground): Promise<{ address: string; driver: string }[]> {
  const bus = `${ground.sysfs}/bus/pci/devices`
  const addresses = await ground.list(bus)
  if (addresses instanceof Refusal) return []
  const found = await Promise.all(
    addresses.map(async (address) => {
      const vendor = await ground.read(`${bus}/${address}/vendor`)
      const kind = await ground.read(`${bus}/${address}/class`)
      // Class 0x02 is a network adapter; the vendor makes bridges too.
      if (vendor !== NVIDIA_NETWORKING || typeof kind !== 'string' || !kind.startsWith('0x02')) return []
      const driver = await ground.target(`${bus}/${address}/driver`)
      return [{ address, driver: driver instanceof Refusal ? '' : driver }]
    }),
  )
  return found.flat()
}

/** The file of the value that is asked for, or of one that every driver has. */
async function lookAtCounter(ground: Ground, place: Port, value: ValuePlace | undefined): Promise<Finding> {
  const { folder, port, device } = place
  const inHw = value?.type === 'rdma_hw' || value?.type === 'rdma_driver'
  const counters = `${folder}/ports/${port}/${inHw ? 'hw_counters' : 'counters'}`
  const names = await ground.list(counters)
  if (names instanceof Refusal) return broken(counters, names.words, 'this driver has no hardware counters of its own')
  if (value === undefined || value.type === 'rdma_driver')
    return readCounter(ground, `${counters}/port_xmit_data`, `${names.length} counters`)
  const forms: ReadonlyMap<string, CounterForm<string>> = inHw ? HW_COUNTERS : PORT_COUNTERS
  const [name] = [...forms].find(([, { field }]) => field === value.field) ?? []
  if (name === undefined) return fine(`${folder}/ports/${port}`, 'no counter: it is a state of the port')
  const path = `${counters}/${name}`
  if (names.includes(name)) return readCounter(ground, path, '')
  if (OPTIONAL.test(name)) {
    const command = `sudo rdma statistic set link ${device}/${port} optional-counters ${name}`
    return broken(path, 'not there: this counter is off until it is turned on', command)
  }
  return broken(path, 'not there', 'this driver or firmware does not have it; a newer one may')
}

async function readCounter(ground: Ground, path: string, answer: string): Promise<Finding> {
  const text = await ground.read(path)
  if (text instanceof Refusal && text.kind !== 'missing')
    return broken(
      path,
      text.words,
      'this driver does not support the counter for this port; a virtual function has few',
    )
  if (typeof text === 'string' && !/^\d/.test(text))
    return broken(path, text, 'the port has no performance management: its firmware or hypervisor hides it')
  return fine(path, typeof text === 'string' && answer === '' ? text : answer)
}

async function lookAtLink(ground: Ground, { folder, port, device }: Port): Promise<Finding> {
  const path = `${folder}/ports/${port}/state`
  const state = await ground.read(path)
  if (state instanceof Refusal) return broken(path, state.words, 'see dmesg: every driver says how its port is')
  if (state.startsWith('4')) return fine(path, state)
  const physical = await ground.read(`${folder}/ports/${port}/phys_state`)
  const layer = await ground.read(`${folder}/ports/${port}/link_layer`)
  const answer = `${state}, ${physical instanceof Refusal ? physical.words : physical}`
  if (typeof physical === 'string' && physical.startsWith('3')) {
    const netdevs = await ground.list(`${folder}/device/net`)
    const [netdev = `the interface of ${device}`] = netdevs instanceof Refusal ? [] : netdevs
    return broken(path, answer, `sudo ip link set ${netdev} up`)
  }
  if (state.startsWith('2') && layer === 'InfiniBand')
    return broken(path, answer, 'no subnet manager answers: start opensm on one host, or look at the one of the fabric')
  return broken(path, answer, 'plug the cable in, or switch the other end on')
}

async function lookAtTraffic(ground: Ground, counters: string): Promise<Finding> {
  const [sent, received] = await Promise.all(
    ['port_xmit_data', 'port_rcv_data'].map((name) => readNumber(ground, `${counters}/${name}`)),
  )
  const path = `${counters}/port_{xmit,rcv}_data`
  if (sent === undefined && received === undefined) return { state: 'unknown', tried: path, answer: 'no number' }
  if ((sent ?? 0) + (received ?? 0) === 0)
    return broken(path, 'no byte was ever received or sent', 'send something over RDMA: counters are 0 until then')
  return fine(path, `${bytesText((received ?? 0) * WORD_BYTES)} received, ${bytesText((sent ?? 0) * WORD_BYTES)} sent`)
}
