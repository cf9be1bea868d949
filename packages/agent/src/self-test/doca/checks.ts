import type { Checks } from '../check.ts'

/** Checks of the library and of the node. */
export const LIBRARY_CHECKS = {
  'library.domains': 'One library has the functions of all six domains',
  'library.newer': 'Which functions of newer versions the library has; Sonde does not call them',
  'library.permission': 'Permission for the device files is enough, without root',
  'library.parallel': 'Two devices are read at once, and two contexts of one device are open',
  'library.taint': 'Reading does not taint the kernel',
} as const satisfies Checks

/** Checks of each device, in the order in which they are made. */
export const DEVICE_CHECKS = {
  'phy.capabilities': 'Which readings of the port the device supports',
  'phy.link': 'State and speed of the link agree with the RDMA driver',
  'phy.ratios': 'Bit error ratios lie between 0 and 1; which ratio a link without errors has',
  'phy.recoveries': 'The count of recoveries agrees with link_error_recovery of the RDMA driver',
  'phy.module': 'The module answers within a second, with plausible values',
  'phy.monotony': 'Counters of the port never fall',
  'phy.traffic': 'Which counters of the port move under traffic',
  'phy.cost': 'A reading of the port takes less than 50 ms',
  'phy.layout': 'The structures of the port are at least as long as Sonde reads them',
  'pci.capabilities': 'Which readings of the PCIe link the device supports',
  'pci.place': 'The link at 0.0.0 has the speed and the width that the kernel reports',
  'pci.latency': 'How many buckets of read latency the device has, and how wide they are',
  'pci.fber': 'FBER is a ratio; it is shown beside the effective bit error ratio',
  'pci.stalls': 'Events of stalled reads and writes rise by one a second at most',
  'pci.monotony': 'Counters of the PCIe link never fall',
  'pci.traffic': 'Which counters of the PCIe link move under traffic',
  'pci.cost': 'A reading of the PCIe link takes less than 50 ms',
  'pci.layout': 'The structures of the PCIe link are at least as long as Sonde reads them',
  'pcc.capabilities': 'Whether the device supports programmable congestion control',
  'pcc.names': 'Which algorithms are loaded, and the names of their counters',
  'pcc.monotony': 'Counters of the algorithms never fall, but for a wrap at 32 bits',
  'pcc.traffic': 'Which counters of the algorithms move under traffic',
  'pcc.cost': 'A look at all algorithms and their counters takes less than 50 ms',
  'dpa.capabilities': 'Whether the accelerator can be read',
  'dpa.start': 'Without a process on the accelerator, start fails with DRIVER',
  'dpa.lists': 'How much memory the lists of the accelerator ask for',
  'dpa.layout': 'The lists name the same processes and threads',
  'dpa.ownership': 'The counter of another program is reported as active',
  'dpa.monotony': 'Counters of threads never fall',
  'dpa.traffic': 'Which counters of threads move under traffic',
  'dpa.cost': 'A reading of all threads takes less than 50 ms',
  'adp_retx.capabilities': 'Whether the device has the histogram of retransmission timeouts',
  'adp_retx.bins': 'The device takes the bins that Sonde asks for',
  'adp_retx.monotony': 'Bins of the histogram never fall',
  'adp_retx.traffic': 'Which bins move under traffic',
  'adp_retx.cost': 'A reading of the histogram takes less than 50 ms',
} as const satisfies Checks

/** Checks of the diagnostic counters. All but the first taint the kernel, and need `--accept-taint`. */
export const DIAG_CHECKS = {
  'diag.capabilities': 'Whether the device has diagnostic counters',
  'diag.ids': 'Which counters of Sonde the device has',
  'diag.taint': 'Sampling taints the kernel',
  'diag.layout': 'A sample has 16 bytes and 8 more for each counter',
  'diag.period': 'The device samples in the period that it was asked for',
  'diag.ownership': 'A second context is refused',
  'diag.clock': 'Times of samples rise, and how far they are from the clock of the host',
  'diag.directions': 'Whether inbound bytes of the PCIe link are those received or those sent',
  'diag.monotony': 'Diagnostic counters never fall',
  'diag.traffic': 'Which diagnostic counters move under traffic',
  'diag.cost': 'A query of a device that samples takes less than 10 ms',
  'diag.on_demand': 'A sample on demand takes less than 10 ms',
} as const satisfies Checks

/** All checks of `--self-test doca`, and what each asks. */
export const DOCA_CHECKS: Checks = { ...LIBRARY_CHECKS, ...DEVICE_CHECKS, ...DIAG_CHECKS }

/** A check of `--self-test doca`. */
export type DocaCheck = LibraryCheck | keyof typeof DEVICE_CHECKS | DiagCheck

/** A check of the diagnostic counters. */
export type DiagCheck = keyof typeof DIAG_CHECKS

/** A check of the library or of the node. */
export type LibraryCheck = keyof typeof LIBRARY_CHECKS
