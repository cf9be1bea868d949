import type { Checks } from '../check.ts'

/** Checks of the library and of the node. */
export const LIBRARY_CHECKS = {
  'library.domains': 'One library has the functions of all six domains',
  'library.newer': 'Functions of newer versions that Sonde does not call',
  'library.permission': 'Permission for the device files is enough, without root',
  'library.parallel': 'Two devices are read at once, and two contexts of one device are open',
  'library.taint': 'Reading does not taint the kernel',
} as const satisfies Checks

/** Checks of each device that only read. */
export const READING_CHECKS = {
  'phy.capabilities': 'Readings of the port that the device supports',
  'phy.layout': 'The structures of the port are at least as long as Sonde reads them',
  'phy.link': 'State, speed and lanes of the link agree with the RDMA driver',
  'phy.ratios': 'Bit error ratios lie between 0 and 1; the ratio of a link without errors',
  'phy.recoveries': 'The count of recoveries agrees with link_error_recovery of the RDMA driver',
  'phy.module': 'The module answers in a second, with plausible values',
  'phy.monotony': 'Counters of the port never fall',
  'phy.traffic': 'Counters of the port that move under traffic',
  'phy.cost': 'A reading of the port takes less than 50 ms',
} as const satisfies Checks

/** All checks of `--self-test doca`. */
export const DOCA_CHECKS: Checks = { ...LIBRARY_CHECKS, ...READING_CHECKS }

/** A check of `--self-test doca`. */
export type DocaCheck = keyof typeof LIBRARY_CHECKS | keyof typeof READING_CHECKS
