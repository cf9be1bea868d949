// How a dashboard is described. `grafana-json.ts` makes the JSON of Grafana from it, and `page.ts` the page.

/** A query of a panel. */
export interface Target {
  /** PromQL with variables of Grafana. */
  readonly expr: string
  /** Name of a series, such as `{{instance}}`. */
  readonly legend: string
}

/** A panel: one question, with its unit and the reason why it may be empty. */
export interface PanelDescription {
  readonly title: string
  readonly targets: readonly Target[]
  /** Unit of Grafana, such as `bytes`, `percentunit` or `short`. */
  readonly unit: string
  /** What it shows, and how to read it. */
  readonly help: string
  /** Why it may show nothing. It stands in the panel in place of data. */
  readonly noData: string
  /** A number that matters now, a table, or a chart over time. Default: a chart. */
  readonly kind?: 'stat' | 'table' | 'timeseries'
  readonly min?: number
  readonly max?: number
  /** Values from which on the colour changes, in the unit of the panel. */
  readonly warning?: number
  readonly critical?: number
  /** Columns of 24. Default: 8, or 4 of a number. */
  readonly width?: number
}

/** Panels under one heading. */
export interface RowDescription {
  readonly title: string
  readonly panels: readonly PanelDescription[]
}

/** A variable whose values are those of a label. */
export interface VariableDescription {
  readonly name: string
  readonly label: string
  /** `label_values(…)`. */
  readonly query: string
  /** Whether several values, and all of them, can be chosen. Default: yes. */
  readonly isMany?: boolean
}

/** A dashboard. */
export interface DashboardDescription {
  /** It never changes: links of the console and of users contain it. */
  readonly uid: string
  readonly title: string
  readonly about: string
  readonly variables: readonly VariableDescription[]
  readonly rows: readonly RowDescription[]
}

type More = Partial<Omit<PanelDescription, 'title' | 'unit' | 'targets' | 'help' | 'noData'>>

/** A panel with one query. */
export function panel(
  title: string,
  unit: string,
  [expr, legend]: readonly [expr: string, legend: string],
  { help, noData, ...more }: { help: string; noData: string } & More,
): PanelDescription {
  return { title, unit, targets: [{ expr, legend }], help, noData, ...more }
}

/** A panel with several queries. */
export function panelOf(
  title: string,
  unit: string,
  targets: readonly (readonly [expr: string, legend: string])[],
  { help, noData, ...more }: { help: string; noData: string } & More,
): PanelDescription {
  return { title, unit, targets: targets.map(([expr, legend]) => ({ expr, legend })), help, noData, ...more }
}

/** Reasons why panels are empty, as they stand in the panel. */
export const NO_DATA = {
  gpu: 'No data: no GPU here, or neither nvml of Sonde nor dcgm-exporter is scraped',
  profiling:
    'No data: profiling is off. Sonde needs Hopper or newer and SYS_ADMIN, dcgm-exporter the field in its list',
  fullGpu: 'No data: scraped with set=core, or the field is not in the list of dcgm-exporter',
  sondeGpu: 'No data: only nvml of Sonde reports this',
  pods: 'No data: no pod holds a GPU, or the labels of pods are unknown (source kubernetes)',
  rdma: 'No data: no RDMA NIC here, or the driver has no such counter',
  ethtool: 'No data: no NIC whose driver has this counter, or the source ethtool is off',
  full: 'No data: scraped with set=core, which leaves this out',
  host: 'No data: the sources host and netdev are off, or dropped for node_exporter',
  doca: 'No data: the DOCA sources are off, or their libraries are missing',
  rules: 'No data: deploy/prometheus/rules/cluster.yaml is not loaded, or nothing to record',
  sonde: 'No data: Prometheus does not scrape the agents of Sonde',
  none: 'None',
} as const

export const CLUSTER: VariableDescription = {
  ...{
    name: 'rack',
    label: 'Cluster',
    query: 'label_values({__name__=~"sonde_build_info|DCGM_FI_DEV_FB_USED"}, cluster)',
  },
}

export const NODE: VariableDescription = {
  ...{
    name: 'node',
    label: 'Node',
    query: 'label_values({__name__=~"sonde_build_info|DCGM_FI_DEV_FB_USED"}, instance)',
  },
}
