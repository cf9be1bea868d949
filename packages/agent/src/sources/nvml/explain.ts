import { codeFault } from '@sonde/sdk/internal'
import { readLine } from '../chains/attributes.ts'
import { broken, type Finding, fine, type SourceExplain } from '../chains/chain.ts'
import { type Ground, Refusal } from '../chains/ground.ts'
import { findNvmlLibrary } from './find-library.ts'

/**
 * Chains behind the values of `nvml`, one for each device file of a GPU. Only files are looked at: what the library
 * says of a GPU is known to the source, in the agent or in a trial.
 */
export const nvmlExplain: SourceExplain = {
  steps: (ground) => [
    { name: 'library', look: async () => lookForLibrary(ground) },
    { name: 'driver', look: () => lookForDriver(ground) },
    { name: 'device node', look: () => lookAtNode(ground, 'nvidiactl') },
  ],
  async devices(ground) {
    const names = await ground.list(ground.devfs)
    const found = names instanceof Refusal ? [] : names.filter((name) => /^nvidia\d+$/.test(name))
    return found.map((name) => ({ name, aliases: [] }))
  },
  deviceSteps: (ground, device) => [{ name: 'device node', look: () => lookAtNode(ground, device) }],
}

function lookForLibrary({ nvml_library: configured }: Ground): Finding {
  const found = findNvmlLibrary(configured)
  if (typeof found !== 'string') {
    const [fault = '', fix = ''] = codeFault(found.path).split('; ')
    return fault === '' ? fine(found.path, 'it is there') : broken(found.path, fault, fix)
  }
  const [what = found, fix = ''] = found.split(/(?<=libnvidia-ml\.so\.1(?: there)?)[:;] /)
  return broken(configured || 'libnvidia-ml.so.1', what, fix)
}

async function lookForDriver(ground: Ground): Promise<Finding> {
  const path = `${ground.procfs}/driver/nvidia/version`
  const found = await readLine(ground, path)
  if (!(found instanceof Refusal)) return fine(path, found)
  return broken(path, found.words, 'sudo modprobe nvidia, or run the container with the NVIDIA runtime')
}

async function lookAtNode(ground: Ground, name: string): Promise<Finding> {
  const path = `${ground.devfs}/${name}`
  const found = await ground.permits(path)
  if (found === true) return fine(path, 'this user may read and write')
  const fix =
    found.kind === 'missing' ? 'sudo nvidia-modprobe -c 0 -u, or give the container the device' : 'run as root'
  return broken(path, found.words, fix)
}
