import type { AttributeReader } from './attribute-reader.ts'
import type { KernelFiles } from './kernel-file.ts'
import { KernelText } from './kernel-text.ts'

/**
 * Values of `phys_port_name` for a port of a switch that leads to a function: `pf0vf3`, `c1pf0`, `pf0sf88`; before
 * Linux 5.0 only a number. An uplink is `p0`.
 */
const FUNCTION = /^(?:(?:c\d+)?pf\d+(?:[vs]f\d+)?|\d+)$/

/**
 * Whether an interface represents a function of the adapter, such as that of a VM, in the adapter's internal switch. It
 * has the adapter's PCI device, and its link depends on the VM, not on the cable. An interface without information from
 * the driver is no representor.
 */
export function isRepresentor(netdev: string, sysfs: KernelFiles, attributes: AttributeReader): boolean {
  const file = sysfs.file('class', 'net', netdev, 'phys_port_name')
  const found = attributes.value(file, (bytes) => FUNCTION.test(new KernelText(bytes).lineFrom(0).trim()))
  file.close()
  return found === true
}
