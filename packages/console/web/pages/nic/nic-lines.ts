/** The metric of a counter of the RDMA port. */
export const port = (name: string): string => `rdma_port_${name}_total`
/** The metric of an RDMA hardware counter. */
export const hardware = (name: string): string => `rdma_hw_${name}_total`
/** The metric of a counter of the driver. */
export const driver = (name: string): string => `ethtool_port_${name}_total`

/** Why a panel is empty if no source reads RDMA counters. */
export const NO_RDMA = 'No source reads RDMA counters of this port.'
/** Why a panel is empty if the driver has no such counter. */
export const NO_DRIVER = 'The driver of this port has no such statistics.'
