import { DeviceMemory } from './device-memory.ts'
import { partOf } from './file-part.ts'
import { parseMeminfo } from './parse.ts'
import type { HostPartDefinition } from './part.ts'
import { hostMemoryType } from './type.ts'

/** Memory of the node. Linux adds that of a GPU which is a NUMA node; here it is left out. */
export const memory: HostPartDefinition = {
  types: [hostMemoryType],
  create(reader) {
    const devices = new DeviceMemory(reader)
    return partOf(reader, {
      ...{ type: hostMemoryType, path: ['meminfo'] },
      parse: (bytes) => {
        const whole = parseMeminfo(bytes)
        return typeof whole === 'string' ? whole : devices.leaveOut(whole)
      },
    })
  },
}
