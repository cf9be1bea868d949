import type { ReactNode } from 'react'
import { Link, Redirect } from 'wouter'
import { useNode } from '../api/resources.ts'
import { Empty } from '../components/empty.tsx'
import { usePageState } from '../state/time-window.ts'
import { usePageTitle } from './use-page-title.ts'

/**
 * A page about a single node. Shows a notice instead if a Prometheus scrapes several agents, because their interfaces
 * and processors share names.
 */
export function OfOneNode({ children }: { readonly children: ReactNode }) {
  const { data: node } = useNode()
  // A console without a history has nothing of its own to show.
  if (node?.backend === '') return <Redirect to="/nodes" replace />
  return node?.agentCount !== undefined && node.agentCount > 1 ? <SeveralNodes count={node.agentCount} /> : children
}

function SeveralNodes({ count }: { readonly count: number }) {
  usePageTitle('Node')
  const page = usePageState()
  return (
    <>
      <h1 className="visually-hidden">Node</h1>
      <Empty icon="info" fact={`The Prometheus behind this page scrapes ${count} agents.`}>
        This page is about one node, and would mix several. <Link href={page.hrefTo('/explore')}>Explorer</Link> tells
        them apart by their label instance, <Link href={page.hrefTo('/apps')}>Apps</Link> has the pods of all.
      </Empty>
    </>
  )
}
