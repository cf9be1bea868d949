import { type Planes, planesAmong } from '../rdma-planes.ts'
import { readLine } from './attributes.ts'
import { type ChainContext, ReadRefusal } from './chain-context.ts'

/** Reads which of the listed RDMA devices are planes of a port, as the sources do. */
export async function planesOf(context: ChainContext, listed: readonly string[]): Promise<Planes> {
  const adapters = new Map<string, string | undefined>()
  for (const name of listed) {
    const adapter = await context.target(`${context.sysfs}/class/infiniband/${name}/device`)
    adapters.set(name, adapter instanceof ReadRefusal ? undefined : adapter)
  }
  const folder = `${context.sysfs}/class/infiniband_verbs`
  const verbs = await context.list(folder)
  const usable = new Set<string>()
  for (const name of verbs instanceof ReadRefusal ? [] : verbs) {
    const device = await readLine(context, `${folder}/${name}/ibdev`)
    if (typeof device === 'string') usable.add(device)
  }
  return planesAmong(adapters, usable)
}

/** Returns the planes of the port of a device. */
export function planesBelow(planes: Planes, device: string): string[] {
  return [...planes].filter(([, owner]) => owner === device).map(([plane]) => plane)
}
