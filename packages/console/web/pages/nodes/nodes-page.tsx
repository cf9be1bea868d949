import { Link } from 'wouter'
import { retryNodes, useNodes } from '../../api/nodes.ts'
import { useNode } from '../../api/resources.ts'
import { Outlines } from '../../components/answer-state.tsx'
import { Empty } from '../../components/empty.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Headline } from '../../components/headline.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { Unanswered } from '../../components/unanswered.tsx'
import { usePageState } from '../../state/time-window.ts'
import { usePageTitle } from '../use-page-title.ts'
import { ClusterCharts } from './cluster-charts.tsx'
import { NodeTable } from './node-table.tsx'
import { nodesHeadline } from './nodes-headline.ts'
import { VersionTable } from './version-table.tsx'

/** The nodes of a console: which answer, what is wrong on them, and the versions of their parts. */
export function NodesPage() {
  usePageTitle('Nodes')
  const page = usePageState()
  const { data: node } = useNode()
  // Only a console that is given agents has the route.
  const isConsole = node === undefined || node.nodeCount !== undefined
  return (
    <>
      <PageHead title="Nodes" />
      {isConsole && <NodeLists />}
      {!isConsole && (
        <Empty fact={node.backend ? 'This console lists no nodes.' : 'This server shows one node.'}>
          A console lists those whose agents are in <code className="mono">console.agents</code>.{' '}
          {!node.backend && <Link href={page.hrefTo('/')}>Show this node</Link>}
        </Empty>
      )}
      {node?.backend && (
        <PanelBoundary>
          <ClusterCharts />
        </PanelBoundary>
      )}
    </>
  )
}

function NodeLists() {
  const { data, error } = useNodes()
  if (!data && error) return <Unanswered fact="The nodes are not known." error={error} onRetry={retryNodes} />
  if (!data) return <Outlines panels={2} waitsFor="the list of nodes" />
  return (
    <>
      <Headline text={nodesHeadline(data)} />
      {data.faults.map((fault) => (
        <Empty key={fault} icon="warning" fact="Agents may be missing.">
          {fault}
        </Empty>
      ))}
      {data.nodes.length > 0 && (
        <>
          <PanelBoundary>
            <NodeTable nodes={data.nodes} nowMs={data.nowMs} />
          </PanelBoundary>
          <PanelBoundary>
            <VersionTable nodes={data.nodes} />
          </PanelBoundary>
        </>
      )}
    </>
  )
}
