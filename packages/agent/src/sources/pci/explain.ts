import { broken, type Finding, fine, type SourceExplain, type Step, type ValuePlace } from '../../explain/chain.ts'
import { type Ground, Refusal } from '../../explain/ground.ts'
import { driverStep, fileStep, permissionStep } from '../../explain/steps.ts'

/** Modules that drive what Sonde watches, by class code and vendor. */
const MODULES: readonly { readonly start: string; readonly vendor: string; readonly module: string }[] = [
  { start: '0x03', vendor: '0x10de', module: 'nvidia' },
  { start: '0x02', vendor: '0x15b3', module: 'mlx5_core' },
]

/** Chains behind the values of `pci`: one a device of the bus. */
export const pciExplain: SourceExplain = {
  steps: (ground) => [
    fileStep(
      ground,
      busOf(ground),
      'no PCI bus is seen here: give a container the sysfs of its host with --path.sysfs',
    ),
  ],
  async devices(ground) {
    const addresses = await ground.list(busOf(ground))
    if (addresses instanceof Refusal) return []
    return addresses.map((name) => ({
      name,
      aliases: [`pci-${name}`, ...(name.startsWith('0000:') ? [name.slice(5)] : [])],
    }))
  },
  deviceSteps: (ground, address, value) => {
    const folder = `${busOf(ground)}/${address}`
    return [
      fileStep(ground, folder, `echo 1 | sudo tee ${ground.sysfs}/bus/pci/rescan`),
      driverStep(ground, folder, () => lookForDriver(ground, folder)),
      permissionStep(ground, `${folder}/vendor`),
      { name: 'counters', look: () => lookAtCounters(ground, folder, value) },
      { name: 'link', look: () => lookAtLink(ground, folder) },
    ] satisfies Step[]
  },
}

const busOf = (ground: Ground): string => `${ground.sysfs}/bus/pci/devices`

async function lookForDriver(ground: Ground, folder: string): Promise<Finding> {
  const [kind, vendor] = await Promise.all([ground.read(`${folder}/class`), ground.read(`${folder}/vendor`)])
  const known = MODULES.find(({ start, vendor: of }) => String(kind).startsWith(start) && vendor === of)
  const tried = `${folder}/driver`
  if (known === undefined) return fine(tried, 'none is bound; the PCI core itself says what is read here')
  return broken(tried, 'no driver is bound', `sudo modprobe ${known.module}`)
}

async function lookAtCounters(ground: Ground, folder: string, value: ValuePlace | undefined): Promise<Finding> {
  const path = `${folder}/aer_dev_correctable`
  const text = await ground.read(path)
  if (typeof text === 'string') return fine(path, `${text.split('\n').length} errors are counted`)
  const isOfErrors = value?.type === 'pci_aer' || value?.field.startsWith('aer_') === true
  if (!isOfErrors) return fine(path, `${text.words}: errors of this device are not counted`)
  return broken(
    path,
    text.words,
    'the firmware keeps AER, or the device has none: look for AER in dmesg and in the firmware',
  )
}

/** A device that fell off the bus answers all ones: width 63, speed unknown. */
async function lookAtLink(ground: Ground, folder: string): Promise<Finding> {
  const [speed, width] = await Promise.all([
    ground.read(`${folder}/current_link_speed`),
    ground.read(`${folder}/current_link_width`),
  ])
  const tried = `${folder}/current_link_{speed,width}`
  if (speed instanceof Refusal || width instanceof Refusal) return fine(tried, 'it has no link of its own')
  const answer = `${speed}, ${width} lanes`
  if (width === '63' || width === '255') {
    const command = `echo 1 | sudo tee ${folder}/remove ${ground.sysfs}/bus/pci/rescan; if it stays away, reboot`
    return broken(tried, `${answer}: the device fell off the bus`, command)
  }
  return fine(tried, answer)
}
