import { readFileSync } from 'node:fs'
import { modelName } from '../pci/names.ts'

/** Returns the product of an RDMA device, such as `ConnectX-7`; empty if it is not known. */
export function adapterOf(sysfs: string, device: string): string {
  const id = (name: string) => {
    try {
      return readFileSync(`${sysfs}/class/infiniband/${device}/device/${name}`, 'latin1').trim().replace(/^0x/, '')
    } catch {
      return ''
    }
  }
  return modelName(id('vendor'), id('device'))
}
