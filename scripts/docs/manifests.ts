// The plain manifests of deploy/kubernetes, which the chart makes with a few values.

import { renderChart } from '../../packages/cli/src/manifests/chart.ts'
import { readValues } from '../../packages/cli/src/manifests/values/read-values.ts'

const FOLDER = 'deploy/kubernetes'

/** The values of each file, as `--set` of `sonde manifests`. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  'agent.yaml': ['createNamespace=true'],
  'agent-prometheus-operator.yaml': [
    'createNamespace=true',
    'serviceMonitor.enabled=true',
    'serviceMonitor.additionalLabels.release=kube-prometheus-stack',
    'prometheusRule.enabled=true',
    'prometheusRule.additionalLabels.release=kube-prometheus-stack',
  ],
  'console.yaml': [
    'agent.enabled=false',
    'console.enabled=true',
    'console.prometheus.url=http://prometheus-operated.monitoring.svc:9090',
  ],
}

/** The files, by their path from the root. */
export function plainManifests(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(FILES).map(([name, settings]) => {
      const release = { name: 'sonde', namespace: 'sonde', managedBy: 'sonde' }
      const command = `sonde manifests ${settings.map((each) => `--set ${each}`).join(' \\\n#   ')}`
      const head = `# Made by \`npm run docs\`; do not edit. The same from the command:\n#   ${command}\n`
      return [`${FOLDER}/${name}`, head + renderChart(readValues([], settings), release)]
    }),
  )
}
