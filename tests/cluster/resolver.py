"""A resolver of a test's own, whose records change as it likes."""

import socket
import struct
import threading


def name_of(question):
    """The name that a question is about, in lower case."""
    labels, at = [], 12
    while question[at] != 0:
        labels.append(question[at + 1:at + 1 + question[at]].decode())
        at += 1 + question[at]
    return ".".join(labels).lower()


class Resolver(threading.Thread):
    """Answers every question for A records, at port 53 of `address`; with a
    `name`, only those for that one."""

    def __init__(self, address="127.0.0.1", name=None):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 53))
        self.known = name  # a thread has a name of its own
        self.records = lambda: []  # None: no answer at all
        self.questions = 0

    def run(self):
        while True:
            question, sender = self.socket.recvfrom(512)
            self.questions += 1
            is_known = self.known in (None, name_of(question))
            records = self.records() if is_known else []
            if records is None:
                continue
            end = question.index(b"\0", 12) + 5
            is_a = question[end - 4:end - 2] == b"\0\1"
            addresses = records if is_a else []
            # "No such name" once there are none.
            flags = 0x8180 if records else 0x8183
            head = question[:2] + struct.pack(
                ">HHHHH", flags, 1, len(addresses), 0, 0)
            answer = b"".join(
                struct.pack(">HHHIH", 0xC00C, 1, 1, 0, 4)
                + socket.inet_aton(address) for address in addresses)
            self.socket.sendto(head + question[12:end] + answer, sender)
