// The JSON of Grafana for the description of a dashboard.

import { DASHBOARDS } from './dashboards.ts'
import type { DashboardDescription, PanelDescription, VariableDescription } from './description.ts'

const FOLDER = 'deploy/grafana'
/** Columns of a dashboard in Grafana, and rows of a chart and of a number. */
const [COLUMNS, CHART_ROWS, STAT_ROWS] = [24, 8, 4]
/** A variable as Grafana substitutes it. */
const variable = (name: string) => `\${${name}}`
const SOURCE = { type: 'prometheus', uid: variable('datasource') }
/** The data source that reads JSON from addresses. */
const INFINITY = 'yesoreyeram-infinity-datasource'

/** The files of all dashboards, by their path from the root. */
export function dashboardFiles(): Record<string, string> {
  return Object.fromEntries(
    DASHBOARDS.map((each) => [`${FOLDER}/${each.uid}.json`, `${JSON.stringify(grafanaJson(each), null, 1)}\n`]),
  )
}

/** A dashboard as Grafana imports it. */
export function grafanaJson({ uid, title, about, variables, rows }: DashboardDescription) {
  return {
    ...{ uid, title, description: about, tags: ['sonde'], schemaVersion: 42, editable: true },
    ...{ timezone: 'browser', graphTooltip: 1, refresh: '30s', time: { from: 'now-1h', to: 'now' } },
    templating: { list: [...FIXED_VARIABLES, ...variables.map(variableJson)] },
    annotations: { list: [alertsOf(variables), INCIDENTS] },
    links: [{ ...LINK, title: 'Sonde', tags: ['sonde'] }],
    panels: placed(rows),
  }
}

const LINK = {
  ...{ type: 'dashboards', icon: 'external link', tooltip: '', asDropdown: true, targetBlank: false },
  ...{ includeVars: true, keepTime: true },
}

const DATA_SOURCE = { type: 'datasource', hide: 0, refresh: 1, includeAll: false, multi: false, regex: '' }
const FIXED_VARIABLES = [
  { ...DATA_SOURCE, name: 'datasource', label: 'Prometheus', query: 'prometheus' },
  { ...DATA_SOURCE, name: 'incidents', label: 'Incidents', query: INFINITY, hide: 2 },
  {
    ...{ type: 'textbox', name: 'sonde', label: 'Address of Sonde', query: 'http://sonde:9100', hide: 2 },
    current: { text: 'http://sonde:9100', value: 'http://sonde:9100' },
  },
]

function variableJson({ name, label, query, isMany = true }: VariableDescription) {
  return {
    ...{ type: 'query', name, label, definition: query, query: { query, refId: name }, datasource: SOURCE },
    ...{ refresh: 2, sort: 7, multi: isMany, includeAll: true, allValue: '.*', regex: '' },
    current: { text: 'All', value: '$__all' },
  }
}

/** Firing alerts of Prometheus, which need no further data source. */
function alertsOf(variables: readonly VariableDescription[]) {
  const node = variables.some(({ name }) => name === 'node') ? ',instance=~"$node"' : ''
  return {
    ...{ name: 'Alerts', enable: true, iconColor: 'orange', datasource: SOURCE, step: '60s' },
    expr: `ALERTS{alertstate="firing",component=~".+"${node}}`,
    ...{ titleFormat: '{{alertname}}', tagKeys: 'severity,instance', textFormat: '' },
  }
}

/** Incidents of Sonde: hints and events of traceback. Off until the data source and the address are set. */
const INCIDENTS = {
  ...{ name: 'Incidents of Sonde', enable: false, iconColor: 'red' },
  datasource: { type: INFINITY, uid: variable('incidents') },
  target: {
    ...{ refId: 'incidents', type: 'json', parser: 'backend', source: 'url', format: 'table', root_selector: '' },
    url: `${variable('sonde')}/api/v1/annotations?from=${variable('__from')}&to=${variable('__to')}`,
    url_options: { method: 'GET', data: '' },
    columns: [
      ...['time', 'timeEnd'].map((name) => ({ selector: name, text: name, type: 'timestamp_epoch' })),
      ...['title', 'text', 'tags'].map((name) => ({ selector: name, text: name, type: 'string' })),
    ],
  },
}

/** Panels from left to right, below the heading of their row. */
function placed(rows: DashboardDescription['rows']): object[] {
  const panels: object[] = []
  let y = 0
  let id = 0
  for (const { title, panels: described } of rows) {
    panels.push({ type: 'row', id: ++id, title, collapsed: false, panels: [], gridPos: { h: 1, w: COLUMNS, x: 0, y } })
    y += 1
    let [x, h] = [0, 0]
    for (const each of described) {
      const isStat = each.kind === 'stat'
      const [w, rows] = [each.width ?? (isStat ? 4 : 8), isStat ? STAT_ROWS : CHART_ROWS]
      if (x + w > COLUMNS || (h !== 0 && h !== rows)) {
        y += h
        x = 0
      }
      h = rows
      panels.push({ ...panelJson(each), id: ++id, gridPos: { h, w, x, y } })
      x += w
    }
    y += h
  }
  return panels
}

function panelJson({ title, targets, unit, help, noData, kind = 'timeseries', min, max, ...limits }: PanelDescription) {
  const isChart = kind === 'timeseries'
  const steps = stepsOf(limits)
  return {
    ...{ type: kind, title, description: help, datasource: SOURCE },
    targets: targets.map(({ expr, legend }, index) => ({
      ...{ refId: String.fromCharCode(65 + index), datasource: SOURCE, expr, editorMode: 'code' },
      ...{ legendFormat: legend === '' ? '__auto' : legend, range: isChart, instant: !isChart },
      ...(kind === 'table' ? { format: 'table' } : {}),
    })),
    fieldConfig: {
      defaults: {
        ...{ unit, noValue: noData },
        ...(min === undefined ? {} : { min }),
        ...(max === undefined ? {} : { max }),
        color: { mode: isChart ? 'palette-classic' : 'thresholds' },
        thresholds: { mode: 'absolute', steps },
        custom: isChart ? chartStyle(steps.length > 1) : {},
      },
      overrides: [],
    },
    options: OPTIONS[kind],
    ...(kind === 'table' ? { transformations: [{ id: 'organize', options: { excludeByName: { Time: true } } }] } : {}),
  }
}

/** Without a limit, a number has one colour. */
function stepsOf({ warning, critical }: Pick<PanelDescription, 'warning' | 'critical'>) {
  return [
    { color: 'green', value: null },
    ...(warning === undefined ? [] : [{ color: 'orange', value: warning }]),
    ...(critical === undefined ? [] : [{ color: 'red', value: critical }]),
  ]
}

/** Gaps stay gaps. */
function chartStyle(hasLimits: boolean) {
  return {
    ...{ drawStyle: 'line', lineWidth: 1, fillOpacity: 5, showPoints: 'never', spanNulls: false },
    thresholdsStyle: { mode: hasLimits ? 'dashed' : 'off' },
  }
}

const OPTIONS = {
  timeseries: {
    legend: { displayMode: 'list', placement: 'bottom', showLegend: true, calcs: [] },
    tooltip: { mode: 'multi', sort: 'desc' },
  },
  stat: {
    ...{ graphMode: 'none', colorMode: 'value', justifyMode: 'auto', textMode: 'auto', wideLayout: true },
    ...{ showPercentChange: false, percentChangeColorMode: 'standard', orientation: 'auto' },
    reduceOptions: { calcs: ['lastNotNull'], values: false },
  },
  table: { frameIndex: 0, showHeader: true },
}
