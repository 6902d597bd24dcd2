"""Reads go to followers and writes to the current leader; nothing is lost or done twice."""

from collections.abc import Iterator

import pytest
from stub_cluster import StubCluster

from kgrag.graph.connection import Graph
from kgrag.values.errors import DatabaseError


@pytest.fixture
def cluster() -> Iterator[StubCluster]:
    with StubCluster() as members:
        yield members


@pytest.fixture
def graph(cluster: StubCluster) -> Iterator[Graph]:
    with Graph(cluster.uri, "neo4j", None) as connected:
        yield connected


def read(graph: Graph) -> int:
    return int(graph.run("inspect/ping")[0]["pong"])


def write(graph: Graph) -> None:
    graph.run("write/unlock_schema", holder="somebody")


def test_reads_go_to_followers_and_writes_to_the_leader(cluster: StubCluster, graph: Graph) -> None:
    write(graph)
    assert {read(graph) for _ in range(6)} == {1}
    leader, *followers = cluster.members
    assert {mode for mode, _ in leader.seen} == {"write"}
    # The driver picks followers at random, so one of them may serve all six reads.
    assert {mode for member in followers for mode, _ in member.seen} == {"read"}


def test_a_follower_that_lags_is_waited_for(cluster: StubCluster, graph: Graph) -> None:
    for member in cluster.members[1:]:
        member.lag = 0.3
    for number in range(1, 4):
        write(graph)
        assert read(graph) == number
    named = [bookmarks for member in cluster.members for mode, bookmarks in member.seen if mode == "read" and bookmarks]
    assert len(named) == 3


def test_a_new_leader_is_found_and_a_write_is_done_once(cluster: StubCluster, graph: Graph) -> None:
    write(graph)
    for number, leader in enumerate((1, 2, 0), 2):
        cluster.leader = leader
        write(graph)
        assert read(graph) == len(cluster.log) == number
    cluster.leader = 1
    assert graph.write(lambda tx: tx.run("write/unlock_schema", holder="somebody")) == []
    assert read(graph) == len(cluster.log) == 5


def test_a_statement_that_commits_by_itself_finds_the_new_leader(cluster: StubCluster, graph: Graph) -> None:
    write(graph)
    cluster.leader = 2
    graph.run("write/uncount_words", collection="notes")
    assert len(cluster.log) == 2


def test_lost_members_are_not_missed_while_one_reads(cluster: StubCluster, graph: Graph) -> None:
    write(graph)
    assert read(graph) == 1
    cluster.members[1].lost = True
    assert {read(graph) for _ in range(6)} == {1}


@pytest.mark.long
def test_without_a_leader_the_error_names_the_cluster_and_reads_go_on(cluster: StubCluster, graph: Graph) -> None:
    write(graph)
    cluster.leader = None
    with pytest.raises(DatabaseError, match="has no leader that takes writes"):
        write(graph)
    assert read(graph) == 1
    cluster.leader = 1
    write(graph)
    assert len(cluster.log) == 2
