import type { AttributeReader } from './attribute-reader.ts'
import type { KernelFiles } from './kernel-file.ts'
import { KernelText } from './kernel-text.ts'

/**
 * What `phys_port_name` says of a port of a switch that leads to a function: `pf0vf3`, `c1pf0`, `pf0sf88`; a bare
 * number before Linux 5.0. An uplink is `p0`.
 */
const FUNCTION = /^(?:(?:c\d+)?pf\d+(?:[vs]f\d+)?|\d+)$/

/**
 * Whether an interface stands for a function of the adapter in the switch within it, such as that of a VM: it lies with
 * the adapter's own interface, and its link comes and goes with the VM, not with the cable. An interface of which no
 * driver tells is none.
 */
export function isRepresentor(netdev: string, sysfs: KernelFiles, attributes: AttributeReader): boolean {
  const file = sysfs.file('class', 'net', netdev, 'phys_port_name')
  const found = attributes.value(file, (bytes) => FUNCTION.test(new KernelText(bytes).lineFrom(0).trim()))
  file.close()
  return found === true
}
