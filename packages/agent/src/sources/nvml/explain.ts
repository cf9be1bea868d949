import { codeFault } from '@sonde/sdk/internal'
import { readLine } from '../chains/attributes.ts'
import { broken, type Finding, fine, type SourceExplain } from '../chains/chain.ts'
import { type ChainContext, ReadRefusal } from '../chains/chain-context.ts'
import { findNvmlLibrary } from './find-library.ts'

/**
 * Chains behind the values of `nvml`, one for each device file of a GPU. They check files only. The source itself, in
 * the agent or in a trial, knows the answers of the library.
 */
export const nvmlExplain: SourceExplain = {
  steps: (context) => [
    { name: 'library', check: async () => findLibrary(context) },
    { name: 'driver', check: () => findDriver(context) },
    { name: 'device node', check: () => checkNode(context, 'nvidiactl') },
  ],
  async devices(context) {
    const names = await context.list(context.devfs)
    const found = names instanceof ReadRefusal ? [] : names.filter((name) => /^nvidia\d+$/.test(name))
    return found.map((name) => ({ name, aliases: [] }))
  },
  deviceSteps: (context, device) => [{ name: 'device node', check: () => checkNode(context, device) }],
}

function findLibrary({ nvml_library: configured }: ChainContext): Finding {
  const found = findNvmlLibrary(configured)
  if (typeof found !== 'string') {
    const [fault = '', fix = ''] = codeFault(found.path).split('; ')
    return fault === '' ? fine(found.path, 'it is there') : broken(found.path, fault, fix)
  }
  const [what = found, fix = ''] = found.split(/(?<=libnvidia-ml\.so\.1(?: there)?)[:;] /)
  return broken(configured || 'libnvidia-ml.so.1', what, fix)
}

async function findDriver(context: ChainContext): Promise<Finding> {
  const path = `${context.procfs}/driver/nvidia/version`
  const found = await readLine(context, path)
  if (!(found instanceof ReadRefusal)) return fine(path, found)
  return broken(path, found.words, 'sudo modprobe nvidia, or run the container with the NVIDIA runtime')
}

async function checkNode(context: ChainContext, name: string): Promise<Finding> {
  const path = `${context.devfs}/${name}`
  const found = await context.permits(path)
  if (found === true) return fine(path, 'this user may read and write')
  const fix =
    found.kind === 'missing' ? 'sudo nvidia-modprobe -c 0 -u, or give the container the device' : 'run as root'
  return broken(path, found.words, fix)
}
