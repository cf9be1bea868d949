import { broken, type ChainDevice, fine, type SourceExplain, type Step, type ValuePlace } from '../../explain/chain.ts'
import { type Ground, Refusal } from '../../explain/ground.ts'
import { fileStep, permissionStep } from '../../explain/steps.ts'
import { folderOf, folderSteps } from './explain-folders.ts'

/** Files of procfs by the type that is made of them. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  host_cpu: ['stat'],
  host_kernel: ['stat'],
  host_memory: ['meminfo'],
  host_pressure: ['pressure/cpu', 'pressure/memory', 'pressure/io'],
  host_softnet: ['net/softnet_stat'],
  host_load: ['loadavg'],
  host_vm: ['vmstat'],
  host_disk: ['diskstats'],
  host_network: ['net/snmp', 'net/netstat'],
}

/** Chains behind the values of `host`: each is one file of procfs, or one folder of sysfs. */
export const hostExplain: SourceExplain = {
  steps: (ground) => [fileStep(ground, `${ground.procfs}/stat`, `mount -t proc proc ${ground.procfs}`)],
  async devices(): Promise<ChainDevice[]> {
    const files = [...new Set(Object.values(FILES).flat())].map((name) => ({ name, aliases: [] }))
    return [...files, ...folderOf.values().map(({ name, alias }) => ({ name, aliases: [alias] }))]
  },
  deviceSteps: (ground, name, value) => {
    const folder = folderOf.get(name)
    return folder === undefined ? fileSteps(ground, name, value) : folderSteps(ground, folder, value)
  },
}

/** What all chains have in common stands at the same place in each: chains of several files are joined link by link. */
function fileSteps(ground: Ground, file: string, value: ValuePlace | undefined): readonly Step[] {
  if (value !== undefined && FILES[value.type]?.includes(file) !== true) return []
  const path = `${ground.procfs}/${file}`
  return [
    fileStep(ground, path, `this kernel does not keep it; pressure needs one built with CONFIG_PSI`),
    { name: 'driver', look: async () => fine(path, 'the kernel itself') },
    permissionStep(ground, path),
    countersStep(ground, path),
  ]
}

function countersStep(ground: Ground, path: string): Step {
  return {
    name: 'counters',
    async look() {
      const text = await ground.read(path)
      if (text instanceof Refusal)
        return broken(path, text.words, 'start the kernel with psi=1 if it is a file of pressure')
      if (text === '') return broken(path, 'it is empty', "put the kernel's own procfs in its place")
      return fine(path, text.split('\n', 1)[0]?.slice(0, 60) ?? '')
    },
  }
}
